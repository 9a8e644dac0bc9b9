package riverwork_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// These tests kill a process: this test binary, started again with the name of an entry of lives and the address of a database in its
// environment.
const (
	envLife    = "CALLWRIGHT_TEST_LIFE"
	envAddress = "CALLWRIGHT_TEST_ADDRESS"
)

// These short times make a leader rescue the task of a dead process soon.
const (
	stepTimeout = 500 * time.Millisecond
	rescueAfter = time.Second
)

// maxPollGap is the time limit for all waits in these tests. A dead leader's lease lasts 15 s, and the next election follows within 6 s.
const maxPollGap = 90 * time.Second

func TestMain(m *testing.M) {
	life, ok := lives[os.Getenv(envLife)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	err := lead(life, os.Getenv(envAddress))
	fmt.Println("died too early:", err)
	os.Exit(1)
}

// lives contains functions that a process executes until it is killed. Each prints a line when the process should be killed.
var lives = map[string]func(ctx context.Context, db *bunstore.DB, work *riverwork.Work) error{
	"enqueues": enqueues,
	"works":    works,
}

func lead(life func(context.Context, *bunstore.DB, *riverwork.Work) error, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxPollGap)
	defer cancel()
	ring, err := callwright.NewKeyring("k", map[string][]byte{"k": make([]byte, 32)})
	if err != nil {
		return err
	}
	db, err := bunstore.Open(ctx, address, bunstore.Config{Keyring: ring})
	if err != nil {
		return err
	}
	config := riverwork.Config{
		SQL: db.SQL(), Tx: db.Tx, Atomic: db, PostgresDSN: db.PostgresDSN(), StepTimeout: stepTimeout, RescueAfter: rescueAfter,
	}
	if err := riverwork.Migrate(ctx, config); err != nil {
		return err
	}
	work, err := riverwork.New(config)
	if err != nil {
		return err
	}
	return life(ctx, db, work)
}

// put stores an organization and a task for it, in one transaction, and calls the function end before the commit. If end returns an error,
// the transaction is rolled back.
func put(ctx context.Context, db *bunstore.DB, work *riverwork.Work, name string, end func() error) error {
	return db.Do(ctx, func(ctx context.Context) error {
		org := callwright.Organization{ID: callwright.OrgID(name), Entitlements: []callwright.Entitlement{}}
		if err := (orgstore.Tenants{DB: db}).InsertOrganization(ctx, org); err != nil {
			return err
		}
		if err := work.Enqueue(ctx, callwright.Task{Kind: "k", Key: name, Org: org.ID}); err != nil {
			return err
		}
		return end()
	})
}

// enqueues commits one task and rolls another back. The process is killed during the transaction of a third task.
func enqueues(ctx context.Context, db *bunstore.DB, work *riverwork.Work) error {
	if err := put(ctx, db, work, "committed", func() error { return nil }); err != nil {
		return err
	}
	back := errors.New("roll back")
	if err := put(ctx, db, work, "rolled back", func() error { return back }); !errors.Is(err, back) {
		return err
	}
	return put(ctx, db, work, "open", func() error {
		fmt.Println("now")
		<-ctx.Done()
		return ctx.Err()
	})
}

// works runs a task. The process is killed while the handler runs.
func works(ctx context.Context, db *bunstore.DB, work *riverwork.Work) error {
	work.Handle(callwright.QueueUpkeep, "k", func(context.Context, callwright.Task, int) error {
		fmt.Println("now")
		select {}
	})
	if err := put(ctx, db, work, "committed", func() error { return nil }); err != nil {
		return err
	}
	return work.Run(ctx)
}

// killed runs a function of lives in a separate process until it prints a line, and then kills the process with SIGKILL.
func killed(t *testing.T, life, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), maxPollGap)
	defer cancel()
	process := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	process.Env = append(os.Environ(), envLife+"="+life, envAddress+"="+address)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(output).ReadString('\n')
	if err := process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err = process.Wait()
	if line != "now\n" || readErr != nil || process.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process said %q, %v, and ended with %v; it should have been killed", line, readErr, err)
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	for name, address := range databases {
		t.Run(name+" before the work", func(t *testing.T) {
			t.Parallel()
			at := address(t)
			killed(t, "enqueues", at)
			if runs := survivors(t, at); !slices.Equal(runs, []string{"committed 1", "marker 1"}) {
				t.Errorf("ran %q; what was committed runs, what was not never does", runs)
			}
		})
		t.Run(name+" in the middle of the work", func(t *testing.T) {
			t.Parallel()
			at := address(t)
			killed(t, "works", at)
			if runs := survivors(t, at); !slices.Equal(runs, []string{"committed 2", "marker 1"}) {
				t.Errorf("ran %q; what was cut off runs again, as its second attempt", runs)
			}
		})
	}
}

// survivors opens the database that a killed process left behind, and returns the key and attempt of each task that runs. After the first
// task it adds a marker task, which runs after all tasks that already exist. It checks that only the organization of the committed
// transaction is stored.
func survivors(t *testing.T, address string) []string {
	t.Helper()
	db, work := open(t, address, func(c *riverwork.Config) {
		c.StepTimeout, c.RescueAfter = stepTimeout, rescueAfter
	})
	ran := make(chan string, 100)
	work.Handle(callwright.QueueUpkeep, "k", func(_ context.Context, task callwright.Task, attempt int) error {
		ran <- fmt.Sprint(task.Key, " ", attempt)
		return nil
	})
	start(t, work)
	runs := []string{next(t, ran)}
	for _, name := range []string{"committed", "rolled back", "open"} {
		_, err := (orgstore.Tenants{DB: db}).Organization(t.Context(), callwright.OrgID(name))
		if kept := err == nil; kept != (name == "committed") {
			t.Errorf("the organization that was %s: %v", name, err)
		}
	}
	if err := work.Enqueue(t.Context(), callwright.Task{Kind: "k", Key: "marker"}); err != nil {
		t.Fatal(err)
	}
	for runs[len(runs)-1] != "marker 1" {
		runs = append(runs, next(t, ran))
	}
	return runs
}

// next returns the next value from a channel, or fails the test after maxPollGap.
func next[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(maxPollGap):
		t.Fatalf("nothing happened within %s", maxPollGap)
	}
	return v
}
