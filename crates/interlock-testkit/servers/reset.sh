#!/usr/bin/env bash
# Puts a server that listens on loopback back to its first state: reset.sh http://127.0.0.1:PORT/mcp
#
# It runs before every run of a proof, so it starts no other program.
set -euo pipefail
address=${1#http://}
address=${address%%/*}
exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
printf 'POST /reset HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$address" >&3
read -r answer <&3
[[ $answer == *' 204 '* ]] || { echo "the server answered: $answer" >&2; exit 1; }
