package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// Endpoint is a host that has taken no message of an organization since a time.
type Endpoint struct {
	Org      callwright.OrgID
	Host     string     // as HostOf returns it
	Since    time.Time  // of the first failed attempt since a message was taken
	Failures int        // failed attempts since then
	Failure  string     // the reason of the last one, human-readable
	Last     time.Time  // of the last failed attempt
	PausedAt *time.Time // nil: messages are sent as they are due
	TrialAt  *time.Time // when the next attempt may be made while it is paused
	Version  int64      // 0: not stored yet; each change increments it
}

// EndpointStore stores endpoints that fail. An endpoint is identified by its Org and its whole Host, port included. Every field
// comes back unchanged; times are returned in UTC, exact to the microsecond. callwrighttest.RunEndpointStore tests it.
type EndpointStore interface {
	// Endpoint returns an endpoint; CodeNotFound: it is not stored as failing.
	Endpoint(ctx context.Context, org callwright.OrgID, host string) (Endpoint, error)
	// StoreEndpoint adds an endpoint of version 0, or replaces the one with the same version. The stored one gets the next version.
	// CodeConflict: the stored version is another, or the endpoint is absent and e.Version is not 0.
	StoreEndpoint(ctx context.Context, e Endpoint) error
	// DeleteEndpoint deletes an endpoint; one that is absent is no error.
	DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error
	// PausedEndpoints returns up to limit endpoints of an organization that are paused, sorted by their hosts.
	PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) ([]Endpoint, error)
}

// The bounds of attempts at an endpoint.
const (
	hostPlaces    = 16               // attempts under way at a host, of all organizations, on a node; one organization has half of them
	mostHosts     = 10_000           // that are remembered
	pauseAfter    = time.Hour        // without a message that was taken
	pauseFailures = 5                // within that time at least
	trialEvery    = 30 * time.Minute // while it is paused
	pausedShort   = time.Minute      // the shortest and the longest time after which a message looks whether the pause has ended
	pausedLong    = 15 * time.Minute
	tooOld        = 24 * time.Hour // a message that has found no place, or a pause, for so long
	mostPaused    = 100            // endpoints that are listed
)

// lanes bounds the concurrent attempts at each host and on a node.
type lanes struct {
	clock callwright.Clock
	total int // attempts under way on the node; a quarter of them is kept: see keptQuarter

	mu    sync.Mutex
	hosts map[string]*node.Shares
	most  map[lane]int              // concurrent attempts; absent: the number that Shares allows
	used  int                       // attempts under way in places that are not kept
	kept  map[callwright.OrgID]bool // who has one under way in a kept place
}

// keptQuarter is the share of a node's attempts that is kept for hosts that have not timed out lately, one for each organization: however
// many others hang, they lose these places with their first time-outs.
const keptQuarter = 4

// lane is the way of an organization's messages to a host.
type lane struct {
	org  callwright.OrgID
	host string
}

// claim takes a place for an attempt; nil: there is none now.
func (l *lanes) claim(way lane) (release func(), wait time.Duration) {
	l.mu.Lock()
	if len(l.hosts) >= mostHosts {
		for host, shares := range l.hosts {
			if shares.Idle() {
				delete(l.hosts, host)
			}
		}
		clear(l.most)
	}
	if l.hosts == nil {
		l.hosts, l.most = map[string]*node.Shares{}, map[lane]int{}
	}
	shares := l.hosts[way.host]
	if shares == nil {
		shares = &node.Shares{Total: hostPlaces, Clock: l.clock}
		l.hosts[way.host] = shares
	}
	most, narrowed := l.most[way]
	if !narrowed {
		most = hostPlaces
	}
	leave := l.enter(way.org, !narrowed)
	l.mu.Unlock()
	if leave == nil {
		return shares.ClaimUpTo(string(way.org), 0) // none, and when to try again
	}
	giveBack, wait := shares.ClaimUpTo(string(way.org), most)
	if giveBack == nil {
		leave()
		return nil, wait
	}
	return func() {
		giveBack()
		leave()
	}, 0
}

// enter takes one of the node's places, a kept one only for an attempt that may have it; nil: there is none. The caller holds the lock.
func (l *lanes) enter(org callwright.OrgID, mayKeep bool) (leave func()) {
	kept := l.total / keptQuarter
	switch {
	case l.used < l.total-kept:
		l.used++
		return func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.used--
		}
	case mayKeep && !l.kept[org] && len(l.kept) < kept:
		if l.kept == nil {
			l.kept = map[callwright.OrgID]bool{}
		}
		l.kept[org] = true
		return func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.kept, org)
		}
	}
	return nil
}

// adjust halves the concurrent attempts after a timeout, down to one, and adds one after a success.
func (l *lanes) adjust(way lane, failure error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most, narrowed := l.most[way]
	switch {
	case failure == nil && narrowed && most+1 >= hostPlaces/2:
		delete(l.most, way)
	case failure == nil && narrowed:
		l.most[way] = most + 1
	case timedOut(failure) && !narrowed:
		l.most[way] = hostPlaces / 4
	case timedOut(failure):
		l.most[way] = max(1, most/2)
	}
}

// unlist has an endpoint begin as one that has never failed.
func (l *lanes) unlist(way lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.most, way)
}

// timedOut reports whether an error is or wraps a timeout, such as context.DeadlineExceeded.
func timedOut(err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}

// Send makes an attempt at a message that tells what has happened at a time, by calling send, unless the endpoint has no place for
// it. Failure is the error of send, for Redeliver or Attempted. putOff has a RetryAfter: no attempt was made, and the task returns
// it. When a message could not be sent for a day, failure is CodeForbidden, and it is given up.
//
// On each node at most 16 attempts are under way at a host, and at most half of them for one organization. After an attempt that
// has timed out its organization has half as many at that host, down to one, and one more after each message that was taken. A quarter
// of all attempts of a node is kept for hosts that have not timed out lately, one at a time for each organization. Send takes a
// failure for a timeout when it wraps an error whose method Timeout returns true. An endpoint that has taken nothing for an hour,
// with at least 5 failures, is paused: its owner is told, and one attempt each half an hour looks whether the pause can end.
func (d *Log) Send(ctx context.Context, m Message, happened time.Time, send func(ctx context.Context) error) (failure, putOff error) {
	if d == nil {
		return send(ctx), nil
	}
	way, now := lane{m.Org, HostOf(m.URL)}, d.cfg.Clock.Now()
	failing, wait, err := d.mayTry(ctx, way, now.Sub(happened))
	if err != nil {
		return nil, err
	}
	var release func()
	if wait == 0 {
		release, wait = d.lanes.claim(way)
	}
	if release == nil {
		return d.postpone(failing, wait, now.Sub(happened))
	}
	defer release()
	failure = send(ctx)
	if failure != nil && ctx.Err() != nil {
		return failure, nil // interrupted: no result of the endpoint
	}
	d.lanes.adjust(way, failure)
	if d.cfg.Endpoints == nil {
		return failure, nil
	}
	if err := d.noteEndpoint(ctx, way, failing, failure); err != nil {
		d.cfg.Logger.WarnContext(ctx, "it cannot be noted how an endpoint of webhooks does", "org", m.Org, "host", way.host, "error", err)
	}
	return failure, nil
}

// postpone returns the result of Send for a message without an attempt now.
func (d *Log) postpone(failing Endpoint, wait, age time.Duration) (failure, putOff error) {
	text := "the host has as many messages under way as it may"
	if failing.PausedAt != nil {
		text = "messages to the host are paused since " + failing.PausedAt.UTC().Format(time.RFC3339) + ": it has taken none before"
	}
	if age >= tooOld {
		return callwright.Errorf(callwright.CodeForbidden, "%s", text), nil
	}
	return nil, &callwright.Error{Code: callwright.CodeUnavailable, Message: text, RetryAfter: wait}
}

// mayTry returns the state of an endpoint, and the wait of a message of an age because the endpoint is paused. It claims a due
// trial.
func (d *Log) mayTry(ctx context.Context, way lane, age time.Duration) (failing Endpoint, wait time.Duration, err error) {
	if d.cfg.Endpoints == nil {
		return Endpoint{}, 0, nil
	}
	failing, err = d.cfg.Endpoints.Endpoint(ctx, way.org, way.host)
	if errors.Is(err, callwright.ErrNotFound) {
		return Endpoint{}, 0, nil
	}
	if err != nil || failing.PausedAt == nil {
		return failing, 0, err
	}
	now := d.cfg.Clock.Now()
	wait = min(max(age/4, pausedShort), pausedLong)
	wait += rand.N(wait / 2) //nolint:gosec // spreads load, hides nothing
	if failing.TrialAt != nil && now.Before(*failing.TrialAt) {
		return failing, wait, nil
	}
	next := now.Add(trialEvery)
	failing.TrialAt = &next
	err = d.cfg.Endpoints.StoreEndpoint(ctx, failing)
	if errors.Is(err, callwright.ErrConflict) {
		return failing, wait, nil // another message has the trial
	}
	failing.Version++
	return failing, 0, err
}

// noteEndpoint stores the result of an attempt at an endpoint. A final refusal counts as an answer.
func (d *Log) noteEndpoint(ctx context.Context, way lane, failing Endpoint, failure error) error {
	if failure == nil || errors.Is(failure, callwright.ErrForbidden) {
		if failing.Version == 0 {
			return nil
		}
		if failing.PausedAt != nil {
			d.cfg.Logger.InfoContext(ctx, "messages to a host go on: it has answered", "org", way.org, "host", way.host)
		}
		return d.cfg.Endpoints.DeleteEndpoint(ctx, way.org, way.host)
	}
	return callwright.Retry(ctx, func(ctx context.Context) error {
		return d.cfg.Atomic.Do(ctx, func(ctx context.Context) error { return d.failed(ctx, way, failure) })
	})
}

// failed notes a failed attempt at an endpoint, and pauses it when it is due, in a transaction.
func (d *Log) failed(ctx context.Context, way lane, failure error) error {
	now := d.cfg.Clock.Now()
	e, err := d.cfg.Endpoints.Endpoint(ctx, way.org, way.host)
	if errors.Is(err, callwright.ErrNotFound) {
		e, err = Endpoint{Org: way.org, Host: way.host, Since: now}, nil
	}
	if err != nil {
		return err
	}
	e.Failures++
	e.Failure, e.Last = storedFailure(callwright.MessageOf(failure)), now
	pauses := e.PausedAt == nil && e.Failures >= pauseFailures && now.Sub(e.Since) >= pauseAfter
	if pauses {
		next := now.Add(trialEvery)
		e.PausedAt, e.TrialAt = &now, &next
	}
	if err := d.cfg.Endpoints.StoreEndpoint(ctx, e); err != nil || !pauses {
		return err
	}
	d.cfg.Logger.WarnContext(ctx, "messages to a host are paused: it has taken none since a time",
		"org", way.org, "host", way.host, "since", e.Since, "failures", e.Failures, "error", e.Failure)
	return taskPaused.Enqueue(ctx, d.cfg.Work, callwright.Task{Key: fmt.Sprint(way.host, "/", now.Unix()), Org: way.org, Unique: true}, pausedArgs{way.host})
}

// Paused returns the endpoints of an organization that are paused, sorted by their hosts, at most 100.
func (d *Log) Paused(ctx context.Context, org callwright.OrgID) ([]Endpoint, error) {
	if d.cfg.Endpoints == nil {
		return nil, nil
	}
	return d.cfg.Endpoints.PausedEndpoints(ctx, org, mostPaused)
}

// Resume ends the pause of an endpoint: messages that wait are sent within 25 minutes, and it is paused again if it takes none for
// another hour. CodeNotFound: it is not paused.
func (d *Log) Resume(ctx context.Context, org callwright.OrgID, host string) error {
	if d.cfg.Endpoints == nil {
		return callwright.NotFound("paused endpoint")
	}
	e, err := d.cfg.Endpoints.Endpoint(ctx, org, host)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && e.PausedAt == nil {
		return callwright.NotFound("paused endpoint")
	}
	if err != nil {
		return err
	}
	d.lanes.unlist(lane{org, host})
	return d.cfg.Endpoints.DeleteEndpoint(ctx, org, host)
}

// taskPaused notifies the owner of a paused endpoint.
const taskPaused callwright.TaskKind[pausedArgs] = "delivery.paused"

type pausedArgs struct {
	Host string `json:"host"`
}

// tellPaused mails an organization's contact that an endpoint is paused. Without a contact the page and the log tell.
func (d *Log) tellPaused(ctx context.Context, t callwright.Task, args pausedArgs, _ int) error {
	e, err := d.cfg.Endpoints.Endpoint(ctx, t.Org, args.Host)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && e.PausedAt == nil {
		return nil // it has ended meanwhile
	}
	if err != nil {
		return err
	}
	o, err := d.cfg.Organizations.Organization(ctx, t.Org)
	if err != nil || o.ContactEmail == "" {
		return err
	}
	err = d.cfg.Mailer.SendMail(ctx, "delivery.paused."+t.Key, o.ContactEmail, "Webhooks to "+e.Host+" are paused", d.pausedText(o, e))
	if errors.Is(err, callwright.ErrForbidden) {
		return nil // the mailer has logged it
	}
	return err
}

func (d *Log) pausedText(o callwright.Organization, e Endpoint) string {
	return fmt.Sprintf(`%s has taken none of the webhook messages of %s since %s.
The last of %d attempts failed: %s.

Messages to it are paused since %s. One attempt every half an hour looks whether it answers again, which ends the pause.
Messages that have waited for a day are given up.

If it works again, do not wait: choose Resume at %s.
`, e.Host, o.Name, e.Since.UTC().Format(time.RFC3339), e.Failures, e.Failure, e.PausedAt.UTC().Format(time.RFC3339), d.cfg.Page)
}
