package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
)

// Second returns an SQL expression for the time that lies a number of seconds after the parameter from. The parameter seconds is an SQL
// expression, too.
func Second(db *bunstore.DB, from time.Time, seconds string) string {
	if db.PostgresDSN() != "" {
		return fmt.Sprintf("to_timestamp(%d + %s)", from.Unix(), seconds)
	}
	return fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%S+00:00', %d + %s, 'unixepoch')", from.Unix(), seconds)
}

// Copies replaces the row with the id "template" with count copies of it, and collects statistics. columns maps the columns in which the
// copies differ to SQL expressions, in which i counts the copies from 0.
func Copies(t testing.TB, db *bunstore.DB, table string, count int, columns map[string]string) {
	t.Helper()
	query := "SELECT name FROM pragma_table_info(?)"
	if db.PostgresDSN() != "" {
		query = "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1"
	}
	rows, err := db.SQL().QueryContext(t.Context(), query, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		value, differs := columns[name]
		if !differs {
			value = name
		}
		names, values = append(names, name), append(values, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	fill := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		INSERT INTO %s (%s) SELECT %s FROM %s, n WHERE id = 'template'`,
		count-1, table, strings.Join(names, ", "), strings.Join(values, ", "), table)
	for _, statement := range []string{fill, "DELETE FROM " + table + " WHERE id = 'template'", "ANALYZE " + table} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// Dump returns all values of a column as text, one on each line. NULL becomes an empty line.
func Dump(t *testing.T, db *bunstore.DB, table, column string) string {
	t.Helper()
	query := fmt.Sprintf("SELECT COALESCE(CAST(%q AS TEXT), '') FROM %q", column, table)
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// AtRest returns all values of all columns of all tables as text.
func AtRest(t *testing.T, db *bunstore.DB) []byte {
	t.Helper()
	query := `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`
	if db.PostgresDSN() != "" {
		query = `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`
	}
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	type column struct{ table, name string }
	var columns []column
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name); err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, c := range columns {
		all = append(all, Dump(t, db, c.table, c.name)+"\n"...)
	}
	return all
}
