package riverwork_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
)

// TestStartsAgain starts the work while the database is unreachable: Run retries. The first two connections are closed immediately, and
// later ones are forwarded to the database.
func TestStartsAgain(t *testing.T) {
	t.Parallel()
	address := pgtest.DSN(t)
	dsn, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	server := dsn.Host
	gate, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gate.Close() })
	var refused atomic.Int32
	go func() {
		for {
			near, err := gate.Accept()
			if err != nil {
				return
			}
			if refused.Add(1) <= 2 {
				_ = near.Close()
				continue
			}
			go carry(near, server)
		}
	}()
	dsn.Host = gate.Addr().String()
	db, work := open(t, address, func(c *riverwork.Config) { c.PostgresDSN = callwright.Secret(dsn.String()) })
	ran := make(chan string, 1)
	work.Handle(callwright.QueueUpkeep, "k", func(_ context.Context, task callwright.Task, _ int) error {
		ran <- task.Key
		return nil
	})
	start(t, work)
	err = db.Do(t.Context(), func(ctx context.Context) error {
		return work.Enqueue(ctx, callwright.Task{Kind: "k", Key: "x", Org: "o"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if key := next(t, ran); key != "x" || refused.Load() < 3 {
		t.Errorf("%s ran after %d connections", key, refused.Load())
	}
	if shown := fmt.Sprintf("%+v", work); strings.Contains(shown, dsn.Host) {
		t.Error("printed, the work shows its connection string")
	}
}

// carry forwards a connection to the server in both directions until either side closes it.
func carry(near net.Conn, server string) {
	defer near.Close()
	far, err := new(net.Dialer).Dial("tcp", server)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(near, far)
		_ = near.Close()
	}()
	_, _ = io.Copy(far, near)
}
