package pgtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
)

func TestTemplateIsPreparedOnceAndCopied(t *testing.T) {
	t.Parallel()
	watcher := open(t, pgtest.DSN(t))
	var prepared atomic.Int32
	var template string
	m := pgtest.Template{Prepare: func(ctx context.Context, dsn string) error {
		prepared.Add(1)
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return err
		}
		template = conn.Config().Database
		_, err = conn.Exec(ctx, "CREATE TABLE made (id int)")
		return errors.Join(err, conn.Close(ctx))
	}}
	var copies [3]*pgx.Conn
	var copying sync.WaitGroup
	for i := range copies {
		copying.Go(func() { copies[i] = open(t, m.DSN(t)) })
	}
	copying.Wait()
	if _, err := copies[0].Exec(t.Context(), "INSERT INTO made VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, copies[1], "SELECT count(*) FROM made"); n != 0 {
		t.Errorf("%d rows of one copy are in another", n)
	}
	if n := prepared.Load(); n != 1 {
		t.Errorf("the template was prepared %d times", n)
	}
	there := func() int {
		return query[int](t, watcher, "SELECT count(*) FROM pg_database WHERE datname = $1", template)
	}
	before := there()
	if err := errors.Join(m.Delete(t.Context()), m.Delete(t.Context())); err != nil || before != 1 || there() != 0 {
		t.Errorf("there were %d templates, and after Drop %d: %v", before, there(), err)
	}
}

func TestTemplateThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	prepared := 0
	m := pgtest.Template{Prepare: func(context.Context, string) error { prepared++; return errors.New("no disk") }}
	for range 2 {
		if words := failure(t, &m); !strings.Contains(words, "no disk") {
			t.Errorf("the test failed with %q", words)
		}
	}
	if err := m.Delete(t.Context()); err != nil || prepared != 1 {
		t.Errorf("prepared %d times, dropped with %v", prepared, err)
	}
}

// failing is a testing.TB that records the message of a failure.
type failing struct {
	testing.TB

	words string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.words = fmt.Sprintf(format, args...)
	panic(f)
}

// failure returns the message with which m.DSN fails a test, or an empty string if it succeeds.
func failure(t *testing.T, m *pgtest.Template) (words string) {
	t.Helper()
	f := &failing{TB: t}
	defer func() {
		words = f.words
		if r := recover(); r != nil && r != any(f) {
			panic(r)
		}
	}()
	m.DSN(f)
	return ""
}
