#!/bin/sh
# Installs the programs that Callwright runs beside Go, as far as they are missing.
#
#   scripts/install-deps.sh demo     speech: flite, pocketsphinx and its English model
#   scripts/install-deps.sh test     the same, SIP peers to test against, espeak-ng, sox, ffmpeg, PostgreSQL, PgBouncer, poppler,
#                                    Chromium, curl, jq, sqlite3, a JDK, node, what internal/tools/web pins,
#                                    and the clients of vendors of speech that internal/tools/engines pins
#   scripts/install-deps.sh clients  node and npm, for generators of clients, and what internal/tools/web pins
#   scripts/install-deps.sh docker   the Docker daemon and its command line
#
# On Debian and Ubuntu they come from the distribution. Elsewhere the script says what to install and fails,
# unless everything is there already.
set -eu

group=${1:-}
case "$group" in
demo) wanted="flite pocketsphinx pocketsphinx-en-us" ;;
test) wanted="flite pocketsphinx pocketsphinx-en-us baresip-core sip-tester kamailio kamailio-tls-modules espeak-ng sox ffmpeg postgresql pgbouncer poppler-utils chromium nodejs npm curl jq sqlite3 default-jdk-headless" ;;
clients) wanted="nodejs npm" ;;
docker) wanted="docker.io docker-cli" ;;
*)
  echo "usage: $0 demo|test|clients|docker" >&2
  exit 2
  ;;
esac

# Recordings of people, which tests measure, are packages of Debian and nowhere else.
if [ "$group" = test ] && command -v apt-get >/dev/null 2>&1; then
  wanted="$wanted pocketsphinx-testdata asterisk-core-sounds-en-wav"
fi

# present says whether what a Debian package is wanted for is on this machine, wherever it came from.
present() {
  case "$1" in
  pocketsphinx) command -v pocketsphinx_continuous || command -v pocketsphinx ;;
  pocketsphinx-en-us) ls -d /usr/share/pocketsphinx/model/en-us /usr/local/share/pocketsphinx/model/en-us \
    /opt/homebrew/share/pocketsphinx/model/en-us 2>/dev/null | grep . ;;
  pocketsphinx-testdata) ls /usr/share/pocketsphinx/test/data/librivox/*.wav ;;
  asterisk-core-sounds-en-wav) ls /usr/share/asterisk/sounds/en_US_f_Allison/*.wav ;;
  baresip-core) command -v baresip ;;
  sip-tester) command -v sipp ;;
  kamailio-tls-modules) ls /usr/lib/*/kamailio/modules/tls.so /usr/lib64/kamailio/modules/tls.so \
    /usr/local/lib*/kamailio/modules/tls.so 2>/dev/null | grep . ;;
  postgresql) command -v pg_basebackup && command -v initdb ||
    ls /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql@*/bin/initdb 2>/dev/null | grep . ;;
  pgbouncer) command -v pgbouncer || ls /usr/sbin/pgbouncer /opt/homebrew/bin/pgbouncer ;;
  poppler-utils) command -v pdftotext && command -v pdftoppm ;;
  chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ||
    ls /Applications/Chromium.app /Applications/Google\ Chrome.app 2>/dev/null | grep . ;;
  nodejs) command -v node ;;
  default-jdk-headless) command -v javac ;;
  docker.io) command -v dockerd ;;
  docker-cli) command -v docker ;;
  *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

missing() {
  for package in $wanted; do
    present "$package" || printf '%s ' "$package"
  done
}

# packages installs the npm packages of internal/tools/web (checkers of pages, TypeScript) and, for tests, of internal/tools/engines (the
# clients of vendors of speech), unless they are as the lock files say.
packages() {
  case $group in
  test) folders="web engines" ;;
  clients) folders=web ;;
  *) return 0 ;;
  esac
  for folder in $folders; do
    folder=$(dirname "$0")/../internal/tools/$folder
    if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/installed.json"; then
      npm ci --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts </dev/null
      cp "$folder/package-lock.json" "$folder/node_modules/installed.json"
    fi
  done
}

lacking=$(missing)
if [ -z "$lacking" ]; then
  packages
  exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
  echo "Callwright needs these programs, which are not on this machine: $lacking" >&2
  if [ "$(uname -s)" = Darwin ]; then
    echo "With Homebrew: brew install flite cmu-pocketsphinx baresip sipp kamailio espeak-ng sox ffmpeg postgresql@17 pgbouncer poppler node jq openjdk, and brew install --cask chromium" >&2
    echo "Docker comes with Docker Desktop, OrbStack or colima." >&2
  else
    echo "Install them with the package manager of this system; the names above are Debian's." >&2
  fi
  exit 1
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    echo "installing $lacking needs root: run this script as root, or install sudo" >&2
    exit 1
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

echo "installing: $lacking"
# A repository that does not answer is no reason to stop: the packages may come from the others.
apt update || echo "apt-get update had errors; trying with the package lists that are here" >&2

# Older releases ship the docker command inside docker.io.
installable=
for package in $lacking; do
  if apt-cache show "$package" >/dev/null 2>&1; then
    installable="$installable $package"
  fi
done
# shellcheck disable=SC2086 # a list of package names, meant to be split
[ -z "$installable" ] || apt install -y --no-install-recommends $installable

lacking=$(missing)
if [ -n "$lacking" ]; then
  echo "still missing after the installation: $lacking" >&2
  exit 1
fi
packages
