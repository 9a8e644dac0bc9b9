package sqldb

import (
	"database/sql/driver"
	"encoding/hex"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
)

// mark precedes each value that bun writes into a statement for SQLite. It is a comment, so a marked statement means the same
// wherever it runs. Connections turn marked values into arguments, so that statements that differ in values alone have one text.
// Text that our own code writes has no mark: the planner chooses a partial index by the literals of its condition.
const mark = "/*=*/"

// maxValues is the number of values above which a statement runs unchanged. It inserts many rows then, rarely the same number twice.
const maxValues = 128

// markingDialect marks the values of statements for SQLite. bun does not pass signed numbers to its dialect: numbers of rows are marked
// nevertheless, others only as an Int.
type markingDialect struct {
	*sqlitedialect.Dialect
	tables *schema.Tables
}

func newMarkingDialect() *markingDialect {
	d := &markingDialect{Dialect: sqlitedialect.New()}
	d.tables = schema.NewTables(d)
	return d
}

// Tables returns the models of this dialect.
func (d *markingDialect) Tables() *schema.Tables { return d.tables }

// OnTable prepares a model.
func (d *markingDialect) OnTable(table *schema.Table) {
	d.Dialect.OnTable(table)
	for _, field := range table.FieldMap {
		if t := field.IndirectType; reflect.Int <= t.Kind() && t.Kind() <= reflect.Int64 && !writesItself(t) {
			field.Append = appendInt
		}
	}
}

// writesItself reports whether a type defines the stored form of its values.
func writesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[driver.Valuer]()) || p.Implements(reflect.TypeFor[schema.QueryAppender]())
}

// Int is a number in a condition that varies, such as a version. As an int it would not be marked: each number would make a
// statement of its own.
type Int int64

// AppendQuery writes the number.
func (n Int) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	if _, marks := gen.Dialect().(*markingDialect); marks {
		b = append(b, mark...)
	}
	return strconv.AppendInt(b, int64(n), 10), nil
}

func appendInt(_ schema.QueryGen, b []byte, v reflect.Value) []byte {
	return strconv.AppendInt(append(b, mark...), reflect.Indirect(v).Int(), 10)
}

// AppendUint32 writes a marked number.
func (d *markingDialect) AppendUint32(b []byte, n uint32) []byte {
	return d.Dialect.AppendUint32(append(b, mark...), n)
}

// AppendUint64 writes a marked number.
func (d *markingDialect) AppendUint64(b []byte, n uint64) []byte {
	return d.Dialect.AppendUint64(append(b, mark...), n)
}

// AppendTime writes a marked time.
func (d *markingDialect) AppendTime(b []byte, t time.Time) []byte {
	return d.Dialect.AppendTime(append(b, mark...), t)
}

// AppendString writes a marked text. Most texts, such as documents that are encrypted, are written as they are; bun goes through them
// character by character.
func (d *markingDialect) AppendString(b []byte, s string) []byte {
	b = append(b, mark...)
	if strings.ContainsAny(s, "'\x00") || !utf8.ValidString(s) {
		return d.Dialect.AppendString(b, s)
	}
	b = slices.Grow(b, len(s)+len("''"))
	return append(append(append(b, '\''), s...), '\'')
}

// AppendBytes writes marked bytes.
func (d *markingDialect) AppendBytes(b, bytes []byte) []byte {
	return d.Dialect.AppendBytes(append(b, mark...), bytes)
}

// AppendJSON writes a marked document.
func (d *markingDialect) AppendJSON(b, document []byte) []byte {
	return appendJSON(append(b, mark...), document)
}

// AppendBool writes a marked truth value.
func (d *markingDialect) AppendBool(b []byte, v bool) []byte {
	return d.Dialect.AppendBool(append(b, mark...), v)
}

// liftValues appends a statement to text, with a ? in the place of each marked value, and returns the values. It returns none if
// the statement has no, too many, or unknown values: then the statement must run unchanged.
func liftValues(statement string, text []byte) ([]byte, []driver.NamedValue) {
	count := strings.Count(statement, mark) // of values, and of marks within texts
	if count == 0 || count > maxValues {
		return text, nil
	}
	args, copied := make([]driver.NamedValue, 0, count), 0
	for at := 0; at < len(statement); {
		if !strings.HasPrefix(statement[at:], mark) {
			at = nextToken(statement, at)
			continue
		}
		end := nextToken(statement, at+len(mark))
		value, ok := literal(statement[at+len(mark) : end])
		if !ok {
			return text, nil
		}
		text = append(append(text, statement[copied:at]...), '?')
		args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: value})
		at, copied = end, end
	}
	return append(text, statement[copied:]...), args
}

// nextToken returns the offset at which the next token of a statement begins, or may begin: quoted texts and names, comments, words and numbers
// are not looked into.
func nextToken(statement string, at int) int {
	rest := statement[at:]
	if rest == "" {
		return at
	}
	switch c := rest[0]; {
	case c == '\'' || c == '"' || c == '`':
		return at + quoted(rest)
	case c == '[':
		return at + through(rest, "]")
	case strings.HasPrefix(rest, "--"):
		return at + through(rest, "\n")
	case strings.HasPrefix(rest, "/*"):
		return at + through(rest, "*/")
	case strings.HasPrefix(rest, "X'"):
		return at + 1 + quoted(rest[1:])
	case word(c) || c == '-':
		n := 1
		for n < len(rest) && word(rest[n]) {
			n++
		}
		return at + n
	}
	return at + 1
}

// word reports whether a byte belongs to a name, a keyword or a number.
func word(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c >= 0x80
}

// through returns the length of rest up to and including last.
func through(rest, last string) int {
	if i := strings.Index(rest, last); i >= 0 {
		return i + len(last)
	}
	return len(rest)
}

// quoted returns the length of a quoted text or name. In it, its quotes stand doubled.
func quoted(rest string) int {
	for n := 1; ; n += 2 {
		i := strings.IndexByte(rest[n:], rest[0])
		if i < 0 {
			return len(rest)
		}
		if n += i; n+1 == len(rest) || rest[n+1] != rest[0] {
			return n + 1
		}
	}
}

// literal returns the value that SQLite reads from a literal of bun.
func literal(s string) (driver.Value, bool) {
	switch {
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'"), true
	case len(s) > 3 && s[:2] == "X'": // the driver would bind NULL for no bytes at all
		value, err := hex.DecodeString(s[2 : len(s)-1])
		return value, err == nil
	case s == "NULL":
		return nil, true
	case s == "TRUE":
		return int64(1), true
	case s == "FALSE":
		return int64(0), true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
