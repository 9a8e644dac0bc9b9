#!/usr/bin/env bash
# Usage: scripts/workspace.sh FOLDER
# Writes FOLDER/go.work, with which the Go module in FOLDER builds against this checkout: every module of the checkout, by its absolute
# path. Run it again when the checkout has moved or has another go.work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tree=$PWD
cd "$OLDPWD"
mark='// Written by scripts/workspace.sh.'

fail() {
	echo "workspace.sh: $*" >&2
	exit 1
}

[ $# = 1 ] || fail "usage: scripts/workspace.sh FOLDER"
[ -f "$1/go.mod" ] || fail "$1 must have a go.mod: run go mod init there first"
if [ -e "$1/go.work" ]; then
	read -r first <"$1/go.work" || true
	[ "$first" = "$mark" ] || fail "$1/go.work is not overwritten: it was not written by this script"
fi

absolute() {
	local line
	while IFS= read -r line; do
		case $line in
		'use (') printf 'use (\n\t.\n' ;;
		$'\t.') printf '\t"%s"\n' "$tree" ;;
		$'\t./'*) printf '\t"%s/%s"\n' "$tree" "${line#*./}" ;;
		*'=> ./'*) printf '%s=> "%s/%s"\n' "${line%%=> ./*}" "$tree" "${line#*=> ./}" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
}
{
	echo "$mark"
	absolute <"$tree/go.work"
} >"$1/go.work"
cp "$tree/go.work.sum" "$1/go.work.sum"
