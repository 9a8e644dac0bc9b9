package sqldb_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
)

// TestValuesAreLifted checks the text and the values into which marked statements are split.
func TestValuesAreLifted(t *testing.T) {
	t.Parallel()
	const m = sqldb.Mark
	for statement, want := range map[string]string{
		"SELECT " + m + "'a'":                                           "SELECT ? [a]",
		"a = " + m + "'it''s' AND b=" + m + "-17 OR c":                  "a = ? AND b=? OR c [it's -17]",
		"(" + m + "NULL," + m + "TRUE, " + m + "FALSE)":                 "(?,?, ?) [<nil> 1 0]",
		"x = " + m + "X'00ff' AND y = 'kept' AND z = 3":                 "x = ? AND y = 'kept' AND z = 3 [[0 255]]",
		"'" + m + "''a''' || " + m + "'" + m + "''b'":                   "'" + m + "''a''' || ? [" + m + "'b]",
		`"` + m + `'a'", [` + m + `'b'], ` + "`" + m + "1`, " + m + "2": `"` + m + `'a'", [` + m + `'b'], ` + "`" + m + "1`, ? [2]",
		"-- " + m + "1\n/* " + m + "2 */ " + m + "3":                    "-- " + m + "1\n/* " + m + "2 */ ? [3]",
		"DEFAULT, /* " + m + "1 */ 2":                                   "DEFAULT, /* " + m + "1 */ 2 []",
		// These statements must run unchanged.
		"no values":                " []",
		m + "X''":                  " []",
		m + "1.5":                  " []",
		m + "12345678901234567890": " []",
		m + "'open":                " []",
		m:                          " []",
		strings.Repeat(m+"1,", sqldb.MaxValues+1): " []",
	} {
		text, args := sqldb.LiftValues(statement)
		values := []any{}
		for i, arg := range args {
			if arg.Ordinal != i+1 {
				t.Errorf("%s: value %d is number %d", statement, i, arg.Ordinal)
			}
			values = append(values, arg.Value)
		}
		if len(args) == 0 && strings.HasPrefix(want, " ") {
			text = ""
		}
		if got := fmt.Sprint(text, " ", values); got != want {
			t.Errorf("%s\n gave %s\nnot   %s", statement, got, want)
		}
	}
}

// FuzzValues puts any text into a statement, as a marked value and as a literal and comment: only the value may be replaced. It also checks
// that AppendString writes texts as bun does.
func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"", "a", "it's", sqldb.Mark, sqldb.Mark + "'x'", "'" + sqldb.Mark + "1", "--\n", "*/", "?", `"`, "[", "ü", "🙂", "a\x00b", "\xff", "\uFFFD'",
	} {
		f.Add(s)
	}
	bunWrites := sqlitedialect.New()
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := string(sqldb.AppendText([]byte("x"), s)), string(bunWrites.AppendString([]byte("x"+sqldb.Mark), s)); got != want {
			t.Errorf("%q is written as %q, and by bun as %q", s, got, want)
		}
		_, _ = sqldb.LiftValues(s)
		quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
		text, values := sqldb.LiftValues("SELECT " + quoted + ", " + sqldb.Mark + quoted + " -- " + s)
		if len(values) == 0 {
			if strings.Count(s, sqldb.Mark) == 0 {
				t.Fatalf("not lifted: %q", s)
			}
			return
		}
		if want := "SELECT " + quoted + ", ? -- " + s; len(values) == 1 && text != want {
			t.Errorf("%q\nnot %q", text, want)
		}
		if values[0].Value != s {
			t.Errorf("%q, not %q", values[0].Value, s)
		}
	})
}

type thing struct {
	bun.BaseModel `bun:"table:things"`

	ID     string         `bun:"id,pk"`
	Number int            `bun:"number"`
	Maybe  *int64         `bun:"maybe"`
	Length time.Duration  `bun:"length"`
	Yes    bool           `bun:"yes"`
	Data   []byte         `bun:"data"`
	At     time.Time      `bun:"at"`
	Until  *time.Time     `bun:"until"`
	Any    map[string]any `bun:"any,type:jsonb"`
}

// TestValuesOfEachKind writes rows with values of all types and finds them by each value. SQLite must not compile a statement for each row.
func TestValuesOfEachKind(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), "sqlite::memory:", sqldb.Config{Limit: time.Minute, Runtime: callwright.Runtime{Logger: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const table = `CREATE TABLE things (id TEXT PRIMARY KEY, number INTEGER, maybe INTEGER, length INTEGER, yes BOOLEAN, data BLOB,
		at TIMESTAMP, until TIMESTAMP, any TEXT)`
	if _, err := db.SQL().ExecContext(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	at, seven := time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC), int64(7)
	before := db.Compiled()
	for i, id := range []string{"a", "it's", sqldb.Mark + "'", "ünï 🙂", "", "?", "-- x", "'' OR 1 = 1"} {
		in := thing{
			ID: id, Number: i - 3, Maybe: &seven, Length: time.Duration(i) * time.Hour, Yes: i%2 == 0, Data: []byte{byte(i), 0, 255},
			At: at, Until: &at, Any: map[string]any{"k": id + "\\'\""},
		}
		var out thing
		err := db.Write(t.Context(), nil, func(ctx context.Context, idb bun.IDB) error {
			if _, err := idb.NewInsert().Model(&in).Exec(ctx); err != nil {
				return err
			}
			return idb.NewSelect().Model(&out).Where("id = ?", id).Where("number = ?", sqldb.Int(in.Number)).
				Where("length = ?", sqldb.Int(in.Length)).Where("data = ?", in.Data).Where("at = ?", at).Where("until IN (?)", bun.List([]time.Time{at})).
				Where("maybe = 7").Where("any = ?", fmt.Sprintf(`{"k":%q}`, in.Any["k"])).Scan(ctx)
		})
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		if out.ID != id || out.Number != in.Number || out.Yes != in.Yes || !bytes.Equal(out.Data, in.Data) || !out.At.Equal(at) ||
			!out.Until.Equal(at) || out.Any["k"] != in.Any["k"] || *out.Maybe != 7 || out.Length != in.Length || !utf8.ValidString(out.ID) {
			t.Errorf("%+v\ncame back as %+v", in, out)
		}
	}
	if n := db.Compiled() - before; n != 2 {
		t.Errorf("two statements were compiled %d times", n)
	}
}
