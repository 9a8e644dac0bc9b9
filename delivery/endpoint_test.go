package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/delivery"
)

// sender is a Log with a clock that the test moves. It records the mails that the Log sends and the tasks that it enqueues.
type sender struct {
	*delivery.Log
	clock *fakeTime
	mails []string
	run   callwright.Handler // handler of the task that sends mail
	due   []callwright.Task
}

func (s *sender) SendMail(_ context.Context, _, to, subject, text string) error {
	s.mails = append(s.mails, to+": "+subject+"\n"+text)
	return nil
}

func (s *sender) Enqueue(_ context.Context, t callwright.Task) error {
	s.due = append(s.due, t)
	return nil
}

func (s *sender) Handle(q callwright.Queue, _ string, h callwright.Handler) {
	if q == callwright.QueueMail {
		s.run = h
	}
}

func (s *sender) Every(callwright.Queue, string, time.Duration, callwright.Handler) {}

func newSender(t *testing.T, change ...func(*delivery.LogConfig)) *sender {
	t.Helper()
	store := memstore.New()
	tenants := orgstore.Tenants{Store: store}
	for _, o := range []callwright.Organization{{ID: "a", Name: "Acme", ContactEmail: "ops@example.com"}, {ID: "b"}} {
		if err := tenants.InsertOrganization(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	s := &sender{clock: &fakeTime{time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}}
	c := delivery.LogConfig{
		Store: orgstore.Deliveries{Store: store}, Endpoints: orgstore.Endpoints{Store: store}, Atomic: store, Work: s,
		Organizations: tenants, Mailer: s, Page: "https://voice.example.com/settings/deliveries", Runtime: callwright.Runtime{Clock: s.clock},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if s.Log, err = delivery.NewLog(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// tries sends a new message of an organization. It reports whether an attempt was made, or else how long the message must wait.
func (s *sender) tries(t *testing.T, org callwright.OrgID, failure error) (made bool, wait time.Duration) {
	t.Helper()
	m := message
	m.Org = org
	got, putOff := s.Send(t.Context(), m, s.clock.now, func(context.Context) error {
		made = true
		return failure
	})
	if made && (!errors.Is(got, failure) || putOff != nil) {
		t.Errorf("an attempt gave %v, %v", got, putOff)
	}
	wait, _ = callwright.RetryAfter(putOff)
	return made, wait
}

var errDown = callwright.Errorf(callwright.CodeUnavailable, "no answer within 10s")

// TestEndpointPauses checks that an endpoint is paused after an hour of failures, and that its owner is notified once. A trial every 30
// minutes must end the pause when the host answers.
func TestEndpointPauses(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for minute := range 60 {
		if made, wait := s.tries(t, "a", errDown); !made {
			t.Fatalf("after %d minutes no attempt is made for %s", minute, wait)
		}
		s.clock.now = s.clock.now.Add(time.Minute)
	}
	if paused, err := s.Paused(t.Context(), "a"); err != nil || len(paused) > 0 {
		t.Fatalf("paused are %+v, %v", paused, err)
	}
	s.tries(t, "a", errDown) // an hour after the first failure
	paused, err := s.Paused(t.Context(), "a")
	if err != nil || len(paused) != 1 || paused[0].Host != "example.com:8443" || paused[0].Failures != 61 || len(s.due) != 1 {
		t.Fatalf("paused are %+v, %v, and %d mails are due", paused, err, len(s.due))
	}
	for range 2 { // tasks may run more than once
		if err := s.run(t.Context(), s.due[0], 1); err != nil {
			t.Fatal(err)
		}
	}
	if mail := s.mails[0]; !strings.HasPrefix(mail, "ops@example.com: Webhooks to example.com:8443 are paused") ||
		!strings.Contains(mail, "Acme") || !strings.Contains(mail, "no answer within 10s") ||
		!strings.Contains(mail, "https://voice.example.com/settings/deliveries") || strings.Contains(mail, "hunter2") {
		t.Errorf("mailed %s", mail)
	}
	attempts := 0
	for range 120 { // two hours
		made, wait := s.tries(t, "a", errDown)
		if made {
			attempts++
		} else if wait < time.Minute || wait > 25*time.Minute {
			t.Errorf("a message waits %s", wait)
		}
		s.clock.now = s.clock.now.Add(time.Minute)
	}
	if attempts < 3 || attempts > 4 {
		t.Errorf("%d trials in two hours", attempts)
	}
	if made, _ := s.tries(t, "b", nil); !made {
		t.Error("another organization's messages to the host are paused, too")
	}
	s.clock.now = s.clock.now.Add(time.Hour)
	if made, _ := s.tries(t, "a", nil); !made {
		t.Error("there is no trial")
	}
	if paused, err := s.Paused(t.Context(), "a"); err != nil || len(paused) > 0 {
		t.Errorf("after an answer paused are %+v, %v", paused, err)
	}
	if made, _ := s.tries(t, "a", errDown); !made || len(s.due) != 1 {
		t.Error("the pause has not ended")
	}
	if err := s.run(t.Context(), s.due[0], 1); err != nil || len(s.mails) != 2 {
		t.Errorf("a pause that has ended is told: %v", err)
	}
}

// TestEndpointAnswers checks that a permanent refusal counts as an answer, so that the endpoint is not paused.
func TestEndpointAnswers(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for i := range 100 {
		failure := errDown
		if i%50 == 49 {
			failure = callwright.Errorf(callwright.CodeForbidden, "it answered with status 410, which is final")
		}
		if made, _ := s.tries(t, "a", failure); !made {
			t.Fatal("it is paused")
		}
		s.clock.now = s.clock.now.Add(time.Minute)
	}
}

// TestEndpointResumes checks that Resume ends the pause of an organization's own endpoint only.
func TestEndpointResumes(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for range 5 {
		s.tries(t, "a", errDown)
		s.clock.now = s.clock.now.Add(time.Hour)
	}
	if made, _ := s.tries(t, "a", errDown); !made { // the due trial
		t.Error("there is no trial")
	}
	if made, _ := s.tries(t, "a", nil); made {
		t.Fatal("it is not paused")
	}
	for _, foreign := range []error{s.Resume(t.Context(), "b", "example.com:8443"), s.Resume(t.Context(), "a", "example.com")} {
		if !errors.Is(foreign, callwright.ErrNotFound) {
			t.Errorf("resuming what is not paused gave %v", foreign)
		}
	}
	if err := s.Resume(t.Context(), "a", "example.com:8443"); err != nil {
		t.Fatal(err)
	}
	if made, _ := s.tries(t, "a", nil); !made {
		t.Error("it is paused still")
	}
}

// TestEndpointGivesUp checks that a message to a paused host is given up when it is 24 hours old.
func TestEndpointGivesUp(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for range 5 {
		s.tries(t, "a", errDown)
		s.clock.now = s.clock.now.Add(20 * time.Minute)
	}
	failure, putOff := s.Send(t.Context(), message, s.clock.now.Add(-24*time.Hour), func(context.Context) error {
		t.Error("it is sent")
		return nil
	})
	if putOff != nil || !errors.Is(failure, callwright.ErrForbidden) || !strings.Contains(failure.Error(), "paused since 2026-05-04T") {
		t.Errorf("got %v, %v", failure, putOff)
	}
}

// hanging holds attempts that hang until the test ends them.
type hanging struct {
	*sender
	t      *testing.T
	answer map[callwright.OrgID]chan error
	done   chan error
}

func newHanging(t *testing.T, s *sender) *hanging {
	return &hanging{s, t, map[callwright.OrgID]chan error{}, make(chan error, 200)}
}

// begin begins an attempt of an organization at a host. It reports false if the attempt has to wait.
func (h *hanging) begin(org callwright.OrgID, host string) bool {
	answer := h.answer[org]
	if answer == nil {
		answer = make(chan error)
		h.answer[org] = answer
	}
	m, began, refused := message, make(chan struct{}), make(chan struct{})
	m.Org, m.URL = org, "https://"+host+"/hook"
	go func() {
		failure, putOff := h.Send(h.t.Context(), m, h.clock.now, func(context.Context) error {
			close(began)
			select {
			case err := <-answer:
				return err
			case <-h.t.Context().Done():
				return nil
			}
		})
		if putOff != nil {
			close(refused)
			return
		}
		h.done <- failure
	}()
	select {
	case <-began:
		return true
	case <-refused:
		return false
	}
}

// fill begins attempts of an organization until one has to wait, and returns their number.
func (h *hanging) fill(org callwright.OrgID, host string) (n int) {
	for h.begin(org, host) {
		n++
	}
	return n
}

// end ends n attempts of an organization with the given error, and checks that Send returns it.
func (h *hanging) end(org callwright.OrgID, n int, err error) {
	for range n {
		h.answer[org] <- err
		if got := <-h.done; !errors.Is(got, err) {
			h.t.Errorf("an attempt gave %v, want %v", got, err)
		}
	}
}

// TestSendBounds checks the limit of concurrent attempts of an organization at a host. Each timeout must halve the limit, but not below
// one. Successful attempts must raise the limit to 8 again, and another organization must keep its own limit.
func TestSendBounds(t *testing.T) {
	t.Parallel()
	h := newHanging(t, newSender(t))
	if n := h.fill("a", "one.example"); n != 8 {
		t.Fatalf("%d are under way", n)
	}
	if n := h.fill("b", "one.example"); n != 4 {
		t.Errorf("of another organization %d are", n)
	}
	timeouts := []error{context.DeadlineExceeded, fmt.Errorf("dial: %w", os.ErrDeadlineExceeded)}
	h.end("b", 4, nil)
	h.end("a", 1, callwright.ErrUnavailable.Because(timeouts[0]))
	h.end("a", 7, errors.New("refused")) // not a timeout
	if n := h.fill("a", "one.example"); n != 4 {
		t.Errorf("after one that timed out %d are under way", n)
	}
	h.end("a", 4, timeouts[1])
	if n := h.fill("a", "one.example"); n != 1 {
		t.Errorf("after five that timed out %d are under way", n)
	}
	h.end("a", 1, nil)
	for want := 2; want <= 8; want++ {
		n := h.fill("a", "one.example")
		if n < want || n > 8 {
			t.Errorf("%d are under way, want %d or more", n, want)
		}
		h.end("a", n, nil)
	}
	if n := h.fill("a", "one.example"); n != 8 {
		t.Errorf("when all were taken %d are under way", n)
	}
	h.end("a", 8, nil)
}

// TestSendKeepsPlaces checks that other organizations can make one attempt each while hanging attempts use all common places. After their
// timeouts, the hanging organizations must not use reserved places.
func TestSendKeepsPlaces(t *testing.T) {
	t.Parallel()
	for workers, want := range map[int]struct{ common, kept int }{0: {75, 25}, 16: {12, 4}, 2: {2, 0}} {
		h := newHanging(t, newSender(t, func(c *delivery.LogConfig) { c.Workers = workers }))
		held, all := map[callwright.OrgID]int{}, 0
		for i := 0; all < want.common+want.kept/2; i++ { // the last of them use a reserved place each
			org := callwright.OrgID(fmt.Sprint("hangs ", i))
			held[org] = h.fill(org, string(org[6:])+".example")
			all += held[org]
		}
		for i := range want.kept - want.kept/2 {
			org := callwright.OrgID(fmt.Sprint("works ", i))
			if n := h.fill(org, "good.example"); n != 1 {
				t.Errorf("of %d workers a newcomer has %d", workers, n)
			}
		}
		if h.begin("one more", "good.example") {
			t.Errorf("there are more than %d attempts", want.common+want.kept)
		}
		for i := range want.kept - want.kept/2 {
			h.end(callwright.OrgID(fmt.Sprint("works ", i)), 1, nil)
		}
		for org, n := range held {
			h.end(org, n, context.DeadlineExceeded)
		}
		all = 0
		for org := range held { // with reduced limits they need further hosts to fill the common places
			all += h.fill(org, string(org[6:])+".example")
		}
		for i := 0; all < want.common; i++ {
			all += h.fill("fills", fmt.Sprint("host", i, ".example"))
		}
		for org := range held {
			if h.begin(org, string(org[6:])+".example") {
				t.Errorf("of %d workers %s has a kept place", workers, org)
			}
		}
	}
}

// TestSendWithoutLog checks that a nil Log sends without limits. NewLog must reject Endpoints without the ports that notify owners.
func TestSendWithoutLog(t *testing.T) {
	t.Parallel()
	var none *delivery.Log
	if failure, putOff := none.Send(t.Context(), message, time.Now(), func(context.Context) error { return errDown }); !errors.Is(failure, errDown) || putOff != nil {
		t.Errorf("got %v, %v", failure, putOff)
	}
	_, err := delivery.NewLog(delivery.LogConfig{
		Store: orgstore.Deliveries{Store: memstore.New()}, Endpoints: orgstore.Endpoints{Store: memstore.New()},
	})
	if err == nil {
		t.Error("a log that cannot tell of pauses is made")
	}
}

// fakeTime is a clock that the test moves.
type fakeTime struct{ now time.Time }

func (f *fakeTime) Now() time.Time { return f.now }
