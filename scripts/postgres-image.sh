#!/bin/sh
# Builds the image that the tests start PostgreSQL from, without any registry: it holds the server that is
# installed on this machine (newest /usr/lib/postgresql/N), the libraries that it loads, a shell, and nothing else.
# Takes some seconds and no network.
#
#   scripts/postgres-image.sh [IMAGE]     default: callwright-postgres:test, the name that adapters/bunstore/pgtest looks for
#
# The image knows two variables of the official one, POSTGRES_USER and POSTGRES_PASSWORD, and runs as an ordinary user.
set -eu

image=${1:-callwright-postgres:test}
uid=999

home=$(ls -d /usr/lib/postgresql/*/ 2>/dev/null | sort -V | tail -n 1)
home=${home%/}
if [ ! -x "$home/bin/initdb" ]; then
  echo "no PostgreSQL server in /usr/lib/postgresql: run scripts/install-deps.sh test" >&2
  exit 1
fi
share=/usr/share/postgresql/$(basename "$home")

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# put copies files and directories to their own place in the image, with links resolved.
put() { tar -C / -chf - --exclude='*llvmjit*' --exclude='*/bitcode' "$@" | tar -C "$root" -xf -; }

put "${home#/}/bin/postgres" "${home#/}/bin/initdb" "${home#/}/lib" "${share#/}" usr/share/zoneinfo bin/sh

# The dynamic linker names the libraries: "name => /path (address)", and itself as "/path (address)".
find "$root/bin" "$root$home" -type f \( -perm -100 -o -name '*.so' \) -exec ldd {} + 2>/dev/null |
  sed -nE 's|^[[:space:]]+([^ ]+ => )?(/[^ ]+) \(.*|\2|p' | sort -u |
  while read -r library; do put "${library#/}"; done

mkdir -p "$root/etc" "$root/tmp" "$root/var/lib/postgresql" "$root/var/run/postgresql" "$root/usr/bin"
printf 'postgres:x:%s:%s::/var/lib/postgresql:/bin/sh\n' "$uid" "$uid" >"$root/etc/passwd"
printf 'postgres:x:%s:\n' "$uid" >"$root/etc/group"
cat >"$root/usr/bin/entrypoint" <<'END'
#!/bin/sh
# Only built-in commands of the shell, the server and initdb are here.
set -eu
: "${POSTGRES_USER:=postgres}" "${POSTGRES_PASSWORD:?must be set}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf '%s\n' "$POSTGRES_PASSWORD" | initdb --username="$POSTGRES_USER" --pwfile=/dev/stdin \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
fi
exec "$@" -c listen_addresses='*'
END
chmod 755 "$root/usr/bin/entrypoint"

tar -C "$root" --owner="$uid" --group="$uid" --numeric-owner -cf - . |
  docker import \
    --change "ENV PATH=$home/bin:/usr/bin:/bin" \
    --change 'ENV PGDATA=/var/lib/postgresql/data' \
    --change "USER $uid:$uid" \
    --change 'EXPOSE 5432' \
    --change 'ENTRYPOINT ["/usr/bin/entrypoint"]' \
    --change 'CMD ["postgres"]' \
    - "$image" >/dev/null
echo "image $image holds $("$home/bin/postgres" --version)"
