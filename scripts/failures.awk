# Prints what the failing tests of `go test -v` have logged, test by test, and what belongs to no test, such as a panic.
#
# Lines of parallel tests are mixed: "=== NAME" and its like say whose lines follow. Tests of two packages may share a name, so that
# what was kept is forgotten at the end of each package.
/^=== (RUN|CONT|NAME|PAUSE) / { test = $3; next }
/^ *--- (PASS|SKIP): / { test = ""; next }
/^ *--- FAIL: / { test = ""; failed[++count] = $3; title[$3] = $0; next }
/^(ok|FAIL|PASS|\?)([ \t]|$)/ {
  for (i = 1; i <= count; i++) printf "%s\n%s", title[failed[i]], lines[failed[i]]
  if (/^FAIL\t/) { printf "%s", lines[""]; print }
  delete lines; delete title; delete failed
  count = 0; test = ""
  next
}
/\[rapid\] OK/ { next }
{ lines[test] = lines[test] $0 "\n" }
