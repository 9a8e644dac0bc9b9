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

// Endpoint is the state of a host that fails for an organization's messages. It exists from the first failed attempt until the host accepts
// a message or refuses one permanently, or until Log.Resume deletes it.
type Endpoint struct {
	Org      callwright.OrgID
	Host     string     // host and port, as HostOf returns them
	Since    time.Time  // time of the first failed attempt
	Failures int        // number of failed attempts
	Failure  string     // human-readable reason for the last failure
	Last     time.Time  // time of the last failed attempt
	PausedAt *time.Time // nil if messages are not paused
	TrialAt  *time.Time // earliest time of the next attempt during a pause
	Version  int64      // 0 before it is stored; each change increments it
}

// EndpointStore stores failing endpoints. Org and the whole Host, port included, identify an endpoint. The store returns every field
// unchanged, and times in UTC with microseconds. callwrighttest.RunEndpointStore tests it.
type EndpointStore interface {
	// Endpoint returns a failing endpoint. It returns CodeNotFound if none is stored.
	Endpoint(ctx context.Context, org callwright.OrgID, host string) (Endpoint, error)
	// StoreEndpoint adds an endpoint of version 0, or replaces the stored endpoint with the same version, and increments the stored
	// version. It returns CodeConflict if the stored version differs, or if the endpoint is absent and e.Version is not 0.
	StoreEndpoint(ctx context.Context, e Endpoint) error
	// DeleteEndpoint deletes an endpoint. It returns nil if the endpoint is absent.
	DeleteEndpoint(ctx context.Context, org callwright.OrgID, host string) error
	// PausedEndpoints returns at most limit paused endpoints of an organization, sorted by Host.
	PausedEndpoints(ctx context.Context, org callwright.OrgID, limit int) ([]Endpoint, error)
}

// These constants limit the attempts at an endpoint.
const (
	hostPlaces    = 16               // concurrent attempts at a host on a node; one organization may have half of them
	mostHosts     = 10_000           // hosts in lanes before idle ones are deleted
	pauseAfter    = time.Hour        // least time without an accepted message before a pause
	pauseFailures = 5                // least number of failed attempts before a pause
	trialEvery    = 30 * time.Minute // interval of trials during a pause
	pausedShort   = time.Minute      // shortest and longest wait of a message during a pause, without jitter
	pausedLong    = 15 * time.Minute
	tooOld        = 24 * time.Hour // age at which a message that could not be attempted is given up
	mostPaused    = 100            // maximum number of endpoints that Paused returns
)

// lanes limits the concurrent attempts on a node, at each host, and of each organization at a host.
type lanes struct {
	clock callwright.Clock
	total int // concurrent attempts on the node; a quarter of them is reserved: see keptQuarter

	mu    sync.Mutex
	hosts map[string]*node.Shares
	most  map[lane]int              // limit of a lane that has timed out; other lanes are absent
	used  int                       // attempts that use places that are not reserved
	kept  map[callwright.OrgID]bool // organizations that use a reserved place
}

// keptQuarter determines the number of reserved places: the node's places divided by keptQuarter. Only lanes that have not timed out lately
// may use them, one for each organization. So hosts that hang lose these places after their first timeout.
const keptQuarter = 4

// lane identifies the messages of an organization to a host.
type lane struct {
	org  callwright.OrgID
	host string
}

// claim claims a place for an attempt. If none is free, release is nil, and wait is the time until the next try.
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
		return shares.ClaimUpTo(string(way.org), 0) // claims nothing, and returns the wait
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

// enter claims one of the node's places, or returns nil if none is free. mayKeep allows a reserved place. The caller must hold the lock.
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

// adjust halves a lane's limit of concurrent attempts after a timeout, down to one, and adds one after a success.
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

// unlist removes the reduced limit of a lane.
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

// Send calls send to attempt the delivery of a message. happened is the time of the event that the message is about. failure is the error
// of send, for Redeliver or Attempted. If no attempt is possible now, send is not called, and the caller's task must return putOff: an
// error with a RetryAfter, or an error of the store. If the event is then at least a day old, failure is an error with CodeForbidden
// instead, and the message is given up.
//
// On each node, at most 16 concurrent attempts are made at a host, and at most half of these for one organization. After an attempt times
// out, the organization's limit at this host is halved, down to one. Each accepted message increases the limit by one. A quarter of a
// node's attempts is reserved for hosts that have not timed out lately, one at a time for each organization. A failure is a timeout if it
// wraps an error whose method Timeout returns true.
//
// An endpoint that has accepted no message for an hour, with at least 5 failures, is paused. Its owner is notified, and an attempt every 30
// minutes tests whether the pause can end.
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
		return failure, nil // interrupted: says nothing about the endpoint
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

// postpone returns the results of Send for a message that cannot be attempted now.
func (d *Log) postpone(failing Endpoint, wait, age time.Duration) (failure, putOff error) {
	text := "the host has reached its limit of concurrent messages"
	if failing.PausedAt != nil {
		text = fmt.Sprintf("messages to the host are paused since %s: it has accepted none since %s",
			failing.PausedAt.UTC().Format(time.RFC3339), failing.Since.UTC().Format(time.RFC3339))
	}
	if age >= tooOld {
		return callwright.Errorf(callwright.CodeForbidden, "%s", text), nil
	}
	return nil, &callwright.Error{Code: callwright.CodeUnavailable, Message: text, RetryAfter: wait}
}

// mayTry returns the state of an endpoint, and how long a message of the given age must wait if the endpoint is paused. If a trial is due,
// mayTry claims it and returns no wait.
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
		return failing, wait, nil // another message has claimed the trial
	}
	failing.Version++
	return failing, 0, err
}

// noteEndpoint stores the result of an attempt at an endpoint. After a success it deletes the endpoint. A permanent refusal counts as a
// success, because the host answered.
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

// failed counts a failed attempt at an endpoint. After pauseFailures and pauseAfter it pauses the endpoint, and enqueues the notice to the
// endpoint's owner. It must run in a transaction.
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

// Paused returns at most 100 paused endpoints of an organization, sorted by Host.
func (d *Log) Paused(ctx context.Context, org callwright.OrgID) ([]Endpoint, error) {
	if d.cfg.Endpoints == nil {
		return nil, nil
	}
	return d.cfg.Endpoints.PausedEndpoints(ctx, org, mostPaused)
}

// Resume ends the pause of an endpoint. Waiting messages are sent within 25 minutes. The endpoint is paused again if it accepts no message
// for another hour. Resume returns CodeNotFound if the endpoint is not paused.
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

// taskPaused notifies the owner of an endpoint that the endpoint is paused.
const taskPaused callwright.TaskKind[pausedArgs] = "delivery.paused"

type pausedArgs struct {
	Host string `json:"host"`
}

// tellPaused mails an organization's contact that an endpoint is paused. It sends nothing if the pause has ended or the organization has no
// contact.
func (d *Log) tellPaused(ctx context.Context, t callwright.Task, args pausedArgs, _ int) error {
	e, err := d.cfg.Endpoints.Endpoint(ctx, t.Org, args.Host)
	if errors.Is(err, callwright.ErrNotFound) || err == nil && e.PausedAt == nil {
		return nil // the pause has ended
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
		return nil // permanent: the mailer has logged it
	}
	return err
}

func (d *Log) pausedText(o callwright.Organization, e Endpoint) string {
	return fmt.Sprintf(`%s has accepted none of the webhook messages of %s since %s.
The last of %d attempts failed: %s.

Messages to it are paused since %s. Every half hour, one message is tried; if it is accepted, the pause ends.
Messages that have waited for a day are given up.

If it works again, do not wait: choose Resume at %s.
`, e.Host, o.Name, e.Since.UTC().Format(time.RFC3339), e.Failures, e.Failure, e.PausedAt.UTC().Format(time.RFC3339), d.cfg.Page)
}
