"""Adds a user to a server and prints their token: `user.py URL TOKEN_OF_THE_OPERATOR`."""

import json
import sys
import urllib.request

url, admin = sys.argv[1:]
headers = {"Authorization": f"Bearer {admin}", "Content-Type": "application/json"}
request = urllib.request.Request(f"{url}/users", json.dumps({"id": "judge"}).encode(), headers)
with urllib.request.urlopen(request, timeout=20) as answer:
    print(json.load(answer)["token"])
