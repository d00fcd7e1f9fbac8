#!/bin/sh
# Serves my_tool.yaml: reads a request a line, writes an answer a line (docs/workers.md).
# Confined, the shell has nothing but what is built into it, and that knows no JSON: the strings are cut
# out and put back as they are, escapes included. A program in a language that knows JSON is started the
# same way: name it as `entry`.

# Puts the string that follows a key into `value`, still escaped.
string() {
  rest=${line#*"\"$1\":\""}
  value=
  while :; do
    part=${rest%%\"*}
    rest=${rest#*\"}
    value=$value$part
    backslashes=${part##*[!\\]}
    # A quote after an odd number of backslashes is part of the string.
    [ $((${#backslashes} % 2)) -eq 1 ] || return 0
    value=$value\"
  done
}

while IFS= read -r line; do
  string id && id=$value
  string greeting && greeting=$value
  string who && who=$value
  printf '{"id": "%s", "result": {"text": "%s, %s!"}}\n' "$id" "$greeting" "$who"
done
