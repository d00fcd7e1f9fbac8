"""Is an example: counts the words of a text, or of a file it was lent."""

import time

from remit_tool import Result, ToolError, command, run


@command
def count(parameters, call):
    words = parameters["text"].split()
    return {"words": len(words), "longest": max(words, key=len, default="")}


@command
def count_file(parameters, call):
    try:
        with open(parameters["path"], encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except OSError as error:
        raise ToolError("CANNOT_READ", f"{parameters['path']} cannot be read: {error.strerror}") from error
    words = 0
    for number, line in enumerate(lines, 1):
        words += len(line.split())
        if number % 1000 == 0:
            call.progress(number / len(lines), f"line {number} of {len(lines)}")
    return Result({"words": words}, message=f"{len(lines)} lines")


@command
def count_slowly(parameters, call):
    """Shows progress and what happens at a timeout."""
    for step in range(parameters["steps"]):
        call.progress(step / parameters["steps"], f"step {step + 1}")
        time.sleep(0.1)
    return {"steps": parameters["steps"]}


if __name__ == "__main__":
    run()
