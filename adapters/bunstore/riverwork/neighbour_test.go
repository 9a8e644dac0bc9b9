package riverwork_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/riverwork"
	"github.com/callwright/callwright/adapters/mail"
	"github.com/callwright/callwright/adapters/webhook"
	"github.com/callwright/callwright/delivery"
)

// hangingMessages is the number of deliveries to receivers that accept connections and never respond.
const hangingMessages = 1000

// hangingReceiver starts a server that accepts connections and never responds. It returns the URL of the server, the counter of its open
// connections, and a channel that receives a value when the first connection opens.
func hangingReceiver(t *testing.T) (url string, open *atomic.Int32, first chan string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	open, first = new(atomic.Int32), make(chan string, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if open.Add(1) == 1 {
				select {
				case first <- "":
				default:
				}
			}
			go func() {
				_, _ = io.Copy(io.Discard, c) // blocks until the sender closes the connection
				_ = c.Close()
				open.Add(-1)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/hook", open, first
}

// neighbours is a node with two organizations and the same adapters as in the server.
type neighbours struct {
	db      *bunstore.DB
	work    *riverwork.Work
	sender  *webhook.Sender
	log     *delivery.Log
	mails   *mail.Folder
	started chan string // keys of started calls
	taken   chan string // ids of delivered messages
	mailed  chan string
}

func newNeighbours(t *testing.T, address string, change ...func(*riverwork.Config)) *neighbours {
	t.Helper()
	n := &neighbours{started: make(chan string, 100), taken: make(chan string, 100), mailed: make(chan string, 100)}
	n.db, n.work = open(t, address, func(c *riverwork.Config) {
		c.StepTimeout, c.RescueAfter = 25*time.Second, time.Minute
		for _, f := range change {
			f(c)
		}
	})
	tenants := orgstore.Tenants{DB: n.db}
	for _, org := range []callwright.OrgID{"hangs", "works"} {
		if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: org, WebhookSecret: "whsec_c2VjcmV0"}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if n.sender, err = webhook.New(webhook.Config{Tenants: tenants, AllowPrivate: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.sender.Close)
	if n.mails, err = mail.NewFolder(mail.FolderConfig{Path: t.TempDir(), From: "callwright@localhost"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.mails.Close() })
	n.log, err = delivery.NewLog(delivery.LogConfig{
		Store: orgstore.Deliveries{DB: n.db}, Endpoints: orgstore.Endpoints{DB: n.db}, Atomic: n.db, Work: n.work, Organizations: tenants, Mailer: n.mails,
	})
	if err != nil {
		t.Fatal(err)
	}
	callwright.TaskKind[string]("post").Handle(n.work, callwright.QueueWebhooks, nil, n.post)
	n.work.Handle(callwright.QueueMail, "mail", func(ctx context.Context, task callwright.Task, _ int) error {
		err := n.mails.SendMail(ctx, task.Key, "ops@example.com", "Notice", "text\n")
		n.mailed <- task.Key
		return err
	})
	n.work.Handle(callwright.QueueCalls, "call", func(_ context.Context, task callwright.Task, _ int) error {
		n.started <- task.Key
		return nil
	})
	return n
}

// post is the handler that delivers a message to a webhook, with retries.
func (n *neighbours) post(ctx context.Context, task callwright.Task, url string, _ int) error {
	m := delivery.Message{Org: task.Org, Kind: "test", ID: task.Key, Subject: task.Key, URL: url}
	since := time.Now()
	failure, putOff := n.log.Send(ctx, m, since, func(ctx context.Context) error {
		return n.sender.Send(ctx, m.Org, m.ID, m.URL, []byte("{}"))
	})
	if putOff != nil {
		return putOff
	}
	return n.log.Redeliver(ctx, m, failure, since, time.Now())
}

// TestHangingNeighbour starts 1,000 deliveries of one organization that hang. Meanwhile, the call of another organization starts, its mail
// is sent, and its webhook is delivered. The durations are logged: see docs/performance.md.
func TestHangingNeighbour(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, address string) {
		n := newNeighbours(t, address)
		hook, hanging, first := hangingReceiver(t)
		good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { n.taken <- r.Header.Get("Webhook-Id") }))
		t.Cleanup(good.Close)
		start(t, n.work)
		post := callwright.TaskKind[string]("post")
		for i := range hangingMessages {
			if err := post.Enqueue(t.Context(), n.work, callwright.Task{Key: fmt.Sprint(i), Org: "hangs"}, hook); err != nil {
				t.Fatal(err)
			}
		}
		next(t, first)
		began := time.Now()
		err := n.db.Do(t.Context(), func(ctx context.Context) error {
			for _, kind := range []string{"call", "mail"} {
				if err := n.work.Enqueue(ctx, callwright.Task{Kind: kind, Key: "works", Org: "works"}); err != nil {
					return err
				}
			}
			return post.Enqueue(ctx, n.work, callwright.Task{Key: "works", Org: "works"}, good.URL)
		})
		if err != nil {
			t.Fatal(err)
		}
		if call := next(t, n.started); call != "works" {
			t.Errorf("the call %q started", call)
		}
		t.Logf("%d hang; the call started after %s", hanging.Load(), time.Since(began).Round(time.Millisecond))
		if id := next(t, n.taken); id != "works" {
			t.Errorf("the message %q was taken", id)
		}
		t.Logf("%d hang; the webhook was taken after %s", hanging.Load(), time.Since(began).Round(time.Millisecond))
		if id := next(t, n.mailed); id != "works" {
			t.Errorf("the mail %q was written", id)
		}
		t.Logf("%d hang; the mail was sent after %s", hanging.Load(), time.Since(began).Round(time.Millisecond))
		if most := hanging.Load(); most > 8 {
			t.Errorf("%d messages to one host are under way", most)
		}
	})
}

// TestManyNeighboursHang makes the deliveries of 16 organizations hang concurrently, each at a different host. The first organizations
// occupy the common workers, and each further organization occupies a reserved worker. Meanwhile, the webhook of another organization is
// delivered.
func TestManyNeighboursHang(t *testing.T) {
	t.Parallel()
	const organizations, messages, common, enough = 16, 60, 75, 75 + 12
	onEach(t, func(t *testing.T, address string) {
		n := newNeighbours(t, address, func(c *riverwork.Config) { c.StepTimeout, c.RescueAfter = 10*time.Minute, time.Hour })
		var hanging atomic.Int32
		full, over := make(chan string, 1), make(chan struct{})
		hang := callwright.TaskKind[string]("hang")
		hang.Handle(n.work, callwright.QueueWebhooks, nil, func(ctx context.Context, task callwright.Task, host string, _ int) error {
			m := delivery.Message{Org: task.Org, Kind: "test", ID: task.Key, Subject: task.Key, URL: "https://" + host}
			_, putOff := n.log.Send(ctx, m, time.Now(), func(ctx context.Context) error {
				if hanging.Add(1) == enough {
					full <- ""
				}
				select {
				case <-over:
				case <-ctx.Done():
				}
				return nil
			})
			return putOff
		})
		good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { n.taken <- r.Header.Get("Webhook-Id") }))
		t.Cleanup(good.Close)
		err := n.db.Do(t.Context(), func(ctx context.Context) error {
			for i := range organizations * messages {
				task := callwright.Task{Key: fmt.Sprint(i), Org: callwright.OrgID(fmt.Sprint("hangs-", i/messages))}
				if err := hang.Enqueue(ctx, n.work, task, task.Key+".example"); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, n.work)
		t.Cleanup(func() { close(over) })
		next(t, full)
		began := time.Now()
		post := callwright.TaskKind[string]("post")
		if err := post.Enqueue(t.Context(), n.work, callwright.Task{Key: "works", Org: "works"}, good.URL); err != nil {
			t.Fatal(err)
		}
		if id := next(t, n.taken); id != "works" {
			t.Errorf("the message %q was taken", id)
		}
		t.Logf("%d hang; the webhook was taken after %s", hanging.Load(), time.Since(began).Round(time.Millisecond))
		if n := hanging.Load(); n > common+organizations {
			t.Errorf("%d hang, want %d at most", n, common+organizations)
		}
	})
}
