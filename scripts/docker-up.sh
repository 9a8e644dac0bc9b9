#!/bin/sh
# Makes sure that a Docker daemon answers. Does nothing when one does; otherwise installs Docker where it is
# missing and starts it: through systemd where that runs, else as a background process of its own.
#
# A daemon that this script started in the background has its process id in the pid file (and nothing else ever
# writes that file), so that the caller can stop what it started:
#
#   scripts/docker-up.sh [PIDFILE]        default: ${TMPDIR:-/tmp}/callwright-dockerd.pid
#   kill "$(cat PIDFILE)"
set -eu

pidfile=${1:-${TMPDIR:-/tmp}/callwright-dockerd.pid}
log=${pidfile%.pid}.log
wait_seconds=30

answers() { docker info >/dev/null 2>&1; }

alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

# await waits until the daemon answers, or until the process with the given id is gone, or until time is up.
await() {
  deadline=$(($(date +%s) + wait_seconds))
  until answers; do
    [ -z "${1:-}" ] || kill -0 "$1" 2>/dev/null || return 1
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 0.2
  done
}

# start runs a daemon in a session of its own, so that it outlives this shell and its terminal.
start() {
  setsid dockerd "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  if await "$pid"; then
    echo "$pid" >"$pidfile"
    return 0
  fi
  kill "$pid" 2>/dev/null || :
  wait "$pid" 2>/dev/null || :
  return 1
}

if answers; then
  echo "docker is running"
  exit 0
fi

"$(dirname "$0")/install-deps.sh" docker
answers && exit 0 # some installations start it

if [ -d /run/systemd/system ]; then
  systemctl start docker
  await && exit 0
  echo "systemd started docker, but it does not answer (for this user): see 'systemctl status docker'" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "no Docker daemon answers, and starting one needs root: run $0 as root" >&2
  exit 1
fi
if alive /var/run/docker.pid; then # somebody is starting one at this moment
  await "$(cat /var/run/docker.pid)" && exit 0
  echo "a Docker daemon runs (process $(cat /var/run/docker.pid)) but does not answer" >&2
  exit 1
fi

: >"$log"
# On most machines no flag is needed. Inside a container without netfilter or without an overlay file system the
# second line still gives a daemon that runs images and publishes ports (through its own proxy).
if start || start --iptables=false --storage-driver=vfs; then
  echo "docker started: process $(cat "$pidfile"), log $log"
  exit 0
fi
echo "the Docker daemon did not start:" >&2
tail -n 20 "$log" >&2
exit 1
