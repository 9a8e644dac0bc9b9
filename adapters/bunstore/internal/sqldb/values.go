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

// mark precedes each value that bun writes into a statement for SQLite. It is a comment, so it does not change the meaning of the
// statement. Connections replace marked values with placeholders, so that statements that differ only in values have the same text.
// Literals in the SQL text of our own code are not marked, because the planner selects a partial index by the literals of its condition.
const mark = "/*=*/"

// maxValues is the maximum number of values for which placeholders are used. Statements with more values insert many rows, and rarely the
// same number of rows twice.
const maxValues = 128

// markingDialect marks the values in statements for SQLite. bun does not pass signed integers to its dialect: OnTable marks those in rows,
// and the type Int marks others.
type markingDialect struct {
	*sqlitedialect.Dialect
	tables *schema.Tables
}

func newMarkingDialect() *markingDialect {
	d := &markingDialect{Dialect: sqlitedialect.New()}
	d.tables = schema.NewTables(d)
	return d
}

// Tables returns the registered models. They belong to this dialect, so that their values are marked.
func (d *markingDialect) Tables() *schema.Tables { return d.tables }

// OnTable prepares a model so that its signed integers are marked.
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

// Int is a varying integer in a condition, such as a version. A plain int would not be marked, and each number would require a separate
// compiled statement.
type Int int64

// AppendQuery appends the number to b, marked on SQLite.
func (n Int) AppendQuery(gen schema.QueryGen, b []byte) ([]byte, error) {
	if _, marks := gen.Dialect().(*markingDialect); marks {
		b = append(b, mark...)
	}
	return strconv.AppendInt(b, int64(n), 10), nil
}

func appendInt(_ schema.QueryGen, b []byte, v reflect.Value) []byte {
	return strconv.AppendInt(append(b, mark...), reflect.Indirect(v).Int(), 10)
}

// AppendUint32 appends a marked integer to b.
func (d *markingDialect) AppendUint32(b []byte, n uint32) []byte {
	return d.Dialect.AppendUint32(append(b, mark...), n)
}

// AppendUint64 appends a marked integer to b.
func (d *markingDialect) AppendUint64(b []byte, n uint64) []byte {
	return d.Dialect.AppendUint64(append(b, mark...), n)
}

// AppendTime appends a marked time to b.
func (d *markingDialect) AppendTime(b []byte, t time.Time) []byte {
	return d.Dialect.AppendTime(append(b, mark...), t)
}

// AppendString appends a marked text literal to b. Most texts, such as encrypted documents, need no escaping: AppendString copies them
// whole, while bun processes each character.
func (d *markingDialect) AppendString(b []byte, s string) []byte {
	b = append(b, mark...)
	if strings.ContainsAny(s, "'\x00") || !utf8.ValidString(s) {
		return d.Dialect.AppendString(b, s)
	}
	b = slices.Grow(b, len(s)+len("''"))
	return append(append(append(b, '\''), s...), '\'')
}

// AppendBytes appends a marked literal of bytes to b.
func (d *markingDialect) AppendBytes(b, bytes []byte) []byte {
	return d.Dialect.AppendBytes(append(b, mark...), bytes)
}

// AppendJSON appends a marked literal of a JSON document to b.
func (d *markingDialect) AppendJSON(b, document []byte) []byte {
	return appendJSON(append(b, mark...), document)
}

// AppendBool appends a marked boolean to b.
func (d *markingDialect) AppendBool(b []byte, v bool) []byte {
	return d.Dialect.AppendBool(append(b, mark...), v)
}

// liftValues appends a statement to text, with a placeholder instead of each marked value, and returns the values. It returns no values if
// the statement contains none, too many, or a value that it cannot parse: the statement must then run unchanged.
func liftValues(statement string, text []byte) ([]byte, []driver.NamedValue) {
	count := strings.Count(statement, mark) // includes marks within texts
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

// nextToken returns the offset after the token at the given offset. Quoted texts and names, comments, words and numbers are one token each.
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

// word reports whether c can be part of a name, a keyword or a number.
func word(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c >= 0x80
}

// through returns the length of rest up to the end of the first occurrence of the text last, or the whole length if there is none.
func through(rest, last string) int {
	if i := strings.Index(rest, last); i >= 0 {
		return i + len(last)
	}
	return len(rest)
}

// quoted returns the length of the quoted text or name at the beginning of rest. A doubled quote does not end it.
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

// literal returns the value that SQLite would read from an SQL literal of bun, and false if it cannot parse the literal.
func literal(s string) (driver.Value, bool) {
	switch {
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'"), true
	case len(s) > 3 && s[:2] == "X'": // the driver would bind empty bytes as NULL
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
