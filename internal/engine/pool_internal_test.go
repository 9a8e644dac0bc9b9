package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/internal/await"
)

// claimAll starts n claims of a user, and waits until all of them hold a slot or wait for one. The slots stay claimed.
func claimAll(t *testing.T, p *pool, user string, n int) {
	t.Helper()
	for range n {
		go func() { _, _ = p.claim(t.Context(), user) }()
	}
	await.That(t, "the claims of "+user, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		u := p.users[user]
		return u != nil && u.held+len(u.waiting) == n
	})
}

// TestPoolIsFair checks that a user whose requests came last, behind 50 requests of another user, gets the first slot that becomes free,
// and that two busy users then share the slots.
func TestPoolIsFair(t *testing.T) {
	t.Parallel()
	p := newPool(2)
	claimAll(t, p, "large", 50)
	claimAll(t, p, "small", 3)
	held := func(user string) int {
		if u := p.users[user]; u != nil {
			return u.held
		}
		return 0
	}
	if held("large") != 2 || held("small") != 0 {
		t.Fatalf("at first %d and %d slots are held", held("large"), held("small"))
	}
	for i, release := range []string{"large", "large", "small", "large", "small", "large"} {
		p.release(release)
		if held("large") != 1 || held("small") != 1 {
			t.Errorf("after release %d of %s, %d and %d slots are held", i, release, held("large"), held("small"))
		}
	}
	p.release("small")
	if held("large") != 2 || p.users["small"] != nil {
		t.Errorf("without the small user the large one holds %d slots", held("large"))
	}
}

// TestPoolAbandons checks that a request whose context ends neither holds nor blocks a slot.
func TestPoolAbandons(t *testing.T) {
	t.Parallel()
	p := newPool(1)
	release, err := p.claim(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for range 20 {
		wait.Go(func() {
			if release, err := p.claim(ctx, "b"); err == nil {
				release()
			}
		})
	}
	cancel()
	release() // concurrently with the cancellation
	wait.Wait()
	if _, err := p.claim(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("claimed with %v after the end of the context", err)
	}
	if p.free != 1 || len(p.users) != 0 {
		t.Errorf("%d slots are free, %d users remain", p.free, len(p.users))
	}
}

// TestForShares runs 20 processes of one user and then one of another with a single slot. The other user's process must be the second. A
// process that hangs is killed, and one that crashes frees its slot, too.
func TestForShares(t *testing.T) {
	t.Parallel()
	sh, err := Find("", []string{"sh"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var wait sync.WaitGroup
	run := func(user string, script string) {
		wait.Go(func() {
			if _, err := sh.For(user, 0).Run(t.Context(), dir, "-c", script); err != nil && !strings.HasSuffix(script, "exit 1") {
				t.Error(err)
			}
		})
	}
	queued := func(n int) {
		t.Helper()
		await.That(t, fmt.Sprintf("%d processes", n), func() bool {
			sh.slots.mu.Lock()
			defer sh.slots.mu.Unlock()
			all := 0
			for _, u := range sh.slots.users {
				all += u.held + len(u.waiting)
			}
			return all == n
		})
	}
	run("large", "while [ ! -e go ]; do sleep 0.01; done; echo large >> log")
	queued(1)
	for range 19 {
		run("large", "echo large >> log; exit 1")
	}
	run("small", "echo small >> log")
	queued(21)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if lines := strings.Fields(string(log)); err != nil || len(lines) != 21 || lines[0] != "large" || lines[1] != "small" {
		t.Errorf("the order is %q, %v", lines, err)
	}
	_, err = sh.For("large", 50*time.Millisecond).Run(t.Context(), dir, "-c", "exec sleep 600")
	if callwright.CodeOf(err) != callwright.CodeUnavailable || !strings.Contains(err.Error(), "50ms, the limit") {
		t.Errorf("a process that hangs: %v", err)
	}
	if _, err := sh.For("small", 0).Run(t.Context(), dir, "-c", "true"); err != nil {
		t.Errorf("after a process that hung: %v", err)
	}
}
