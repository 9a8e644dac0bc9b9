package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

const eventStream = "text/event-stream"

// Intervals and limits of live pages.
const (
	streamBeat    = 15 * time.Second // interval of session checks and keep-alive comments
	streamLife    = 15 * time.Minute // duration of a stream, after which the browser must reconnect
	streamTimeout = 10 * time.Second // time limit of one write to a browser
	maxRest       = 30 * time.Second // maximum interval of renderings, even if Wait has not returned
	renderTimeout = 10 * time.Second // time limit of one rendering
	minRest       = 250 * time.Millisecond
)

// watchers holds the open streams. It renders live parts once per channelKey, for all browsers with that key.
type watchers struct {
	site *Site
	ctx  context.Context //nolint:containedctx // of the goroutines, which close ends
	stop context.CancelFunc

	mu       sync.Mutex
	closed   bool
	channels map[channelKey]*channel
	open     int
	perOrg   map[callwright.OrgID]int
	running  sync.WaitGroup
}

type channelKey struct {
	org     callwright.OrgID
	rights  string // entitlements of the user
	zone    string // time zone of the user's days
	address string
}

// rights returns the sorted entitlements of a principal as a string that can be compared.
func rights(p callwright.Principal) string {
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(p.Entitlements)))
}

// channel renders the live parts for all streams with the same channelKey.
type channel struct {
	stop    context.CancelFunc
	joined  chan struct{} // holds a value while a new stream waits for a rendering
	mu      sync.Mutex
	begun   int               // number of renderings that have begun
	done    int               // number of the rendering in latest
	latest  map[string][]byte // rendered parts, by template name
	over    error             // error that ended the rendering; nil while it continues
	streams map[*stream]bool
}

// stream is one browser's view of a channel. It has no queue: a newer rendering replaces an unread one. It skips renderings that began
// before the stream, because they may be older than the browser's page.
type stream struct {
	wake chan struct{} // holds a value when the method news may return changed parts
	from int           // number of the first rendering that the stream may send
	sent map[string][]byte
}

func newWatchers(s *Site) *watchers {
	ctx, stop := context.WithCancel(context.Background())
	return &watchers{site: s, ctx: ctx, stop: stop, channels: map[channelKey]*channel{}, perOrg: map[callwright.OrgID]int{}}
}

// close ends all streams and waits until all renderings have ended, or until ctx ends.
func (ws *watchers) close(ctx context.Context) error {
	ws.mu.Lock()
	ws.closed = true
	ws.mu.Unlock()
	ws.stop()
	done := make(chan struct{})
	go func() {
		ws.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join adds a stream to the channel of a request, and starts the channel for its first stream. It returns CodeTooManyRequests if too many
// streams are open or the watchers are closed. The caller must call the returned function leave once.
func (ws *watchers) join(r *Request, route Route) (c *channel, st *stream, leave func(), err error) {
	key := channelKey{r.Principal.Org, rights(r.Principal), r.zone.String(), r.URL.RequestURI()}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed || ws.open >= ws.site.cfg.Streams || ws.perOrg[key.org] >= ws.site.cfg.OrgStreams {
		return nil, nil, nil, &callwright.Error{
			Code: callwright.CodeTooManyRequests, Message: "too many live pages are open, so this page does not update itself: close others, or reload this one", RetryAfter: streamBeat,
		}
	}
	ws.open++
	ws.perOrg[key.org]++
	st = &stream{wake: make(chan struct{}, 1), sent: map[string][]byte{}}
	c, ok := ws.channels[key]
	if !ok {
		c = &channel{joined: make(chan struct{}, 1), latest: map[string][]byte{}, streams: map[*stream]bool{}}
		ws.channels[key] = c
	}
	c.add(st)
	if !ok {
		ctx, stop := context.WithCancel(ws.ctx)
		c.stop = stop
		own := &Request{Request: r.Clone(ctx), Principal: r.Principal, area: r.area, prefix: r.prefix, id: r.id, zone: r.zone}
		ws.running.Go(func() { c.run(ctx, ws.site, own, route) })
	}
	return c, st, func() { ws.leave(key, c, st) }, nil
}

// add adds a stream, which waits for the next rendering. If a rendering has already begun, the method requests another one.
func (c *channel) add(st *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.from = c.begun + 1
	c.streams[st] = true
	if c.over != nil {
		signal(st.wake) // because no rendering follows
	}
	if c.begun > 0 {
		signal(c.joined)
	}
}

// leave deletes a stream from its channel. It stops a channel without streams.
func (ws *watchers) leave(key channelKey, c *channel, st *stream) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.open--
	if ws.perOrg[key.org]--; ws.perOrg[key.org] == 0 {
		delete(ws.perOrg, key.org)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.streams, st); len(c.streams) == 0 {
		c.stop()
		delete(ws.channels, key)
	}
}

// run renders the live parts until ctx ends, because no stream is left or the watchers are closed, or until a rendering fails with an error
// that is not temporary.
func (c *channel) run(ctx context.Context, s *Site, r *Request, route Route) {
	for ctx.Err() == nil {
		begin, number := time.Now(), c.begin()
		view, parts, err := s.renderLive(ctx, r, route)
		if err == nil || !passing(err) {
			c.publish(number, parts, err)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.log(r, route, statusOf(err), time.Since(begin), err)
			if c.ended() {
				return
			}
			view = &View{Every: maxRest} // retry, because the error may be temporary
		}
		c.rest(ctx, view)
	}
}

// begin returns the number of a new rendering, starting at 1.
func (c *channel) begin() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return c.begun
}

// passing reports whether an error is temporary, so that the next rendering may succeed.
func passing(err error) bool {
	return errors.Is(err, callwright.ErrUnavailable) || errors.Is(err, callwright.ErrTooManyRequests) || errors.Is(err, context.DeadlineExceeded)
}

// Poll returns a View.Wait for a value that is cheap to read and compare. The Wait calls the function read at intervals of LiveEvery until
// the returned value differs from shown, which is the value on the page. The Wait returns the first error of read, or an error when its
// context ends.
func Poll[T comparable](shown T, read func(ctx context.Context) (T, error)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ticker := time.NewTicker(LiveEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return ctx.Err()
			}
			if now, err := read(ctx); err != nil || now != shown {
				return err
			}
		}
	}
}

// rest waits until the view may have changed or a stream joins, for at most maxRest. Two renderings are at least minRest apart.
func (c *channel) rest(ctx context.Context, v *View) {
	within, cancel := context.WithTimeout(ctx, maxRest)
	defer cancel()
	joined := make(chan bool, 1)
	go func() {
		select {
		case <-c.joined:
			joined <- true
			cancel()
		case <-within.Done():
			joined <- false
		}
	}()
	every := v.Every
	if every == 0 {
		every = LiveEvery
	}
	if v.Wait != nil {
		if err := v.Wait(within); err == nil || within.Err() != nil {
			every = minRest
		}
	}
	sleep(within, every)
	cancel()
	if <-joined {
		sleep(ctx, minRest)
	}
}

// sleep waits for a duration, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// renderLive renders the live templates of a page, by name. It returns errOver if the page is not live.
func (s *Site) renderLive(ctx context.Context, r *Request, route Route) (*View, map[string][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, renderTimeout)
	defer cancel()
	leaveOrg, err := s.room.enterOrg(ctx, r.Principal.Org)
	if err != nil {
		return nil, nil, err
	}
	defer leaveOrg()
	leave, err := s.room.enter(ctx, r.area)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	answer, err := route.Serve(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	if c, ok := answer.(Content); ok {
		c.close()
	}
	v, ok := answer.(*View)
	if !ok || len(v.Live) == 0 {
		return nil, nil, errOver
	}
	t, err := s.find(r, v)
	if err != nil {
		return nil, nil, err
	}
	parts := map[string][]byte{}
	for _, name := range v.Live {
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, name, v.Data); err != nil {
			return nil, nil, err
		}
		parts[name] = b.Bytes()
	}
	return v, parts, nil
}

// errOver reports that a page is not or no longer live, such as the page of an ended call.
var errOver = &callwright.Error{Code: callwright.CodeNotFound, Message: "the page is not live"}

// publish stores the result of a rendering. It wakes the streams if a part has changed, if this is the first rendering that one of them may
// send, or if err is not nil. An error ends the channel.
func (c *channel) publish(number int, parts map[string][]byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := err != nil
	for st := range c.streams {
		changed = changed || c.done < st.from && st.from <= number
	}
	c.done = number
	for name, part := range parts {
		if !bytes.Equal(c.latest[name], part) {
			c.latest[name], changed = part, true
		}
	}
	c.over = err
	if !changed {
		return
	}
	for st := range c.streams {
		signal(st.wake)
	}
}

func (c *channel) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over != nil
}

// signal puts a value into a channel of capacity one, unless it is full.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// news returns the parts that have changed since the stream last sent them. over is not nil if no rendering follows.
func (c *channel) news(st *stream) (parts map[string][]byte, over error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts = map[string][]byte{}
	if c.done < st.from {
		return parts, c.over
	}
	for name, part := range c.latest {
		if sent, ok := st.sent[name]; !ok || !bytes.Equal(sent, part) {
			parts[name], st.sent[name] = part, part
		}
	}
	return parts, c.over
}

// serve streams the live parts of a page. It returns when the browser disconnects or stops reading, after streamLife, when the user's
// rights have changed, when the page is no longer live, or when ws is closed. It returns an error only if it has sent nothing.
func (ws *watchers) serve(w http.ResponseWriter, r *Request, route Route) error {
	if r.Method != http.MethodGet {
		return callwright.ErrMethodNotAllowed
	}
	c, st, leave, err := ws.join(r, route)
	if err != nil {
		return err
	}
	defer leave()
	ended, stop := ws.site.watch(r)
	defer stop()
	if err := ws.site.admit(r); err != nil { // the session may have ended before watch
		return err
	}
	header := w.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "private, no-store")
	header.Set("X-Accel-Buffering", "no") // asks proxies not to buffer
	header.Add("Vary", "Accept, Cookie")
	out := writer{w: w, control: http.NewResponseController(w)}
	ctx, cancel := context.WithTimeout(r.Context(), streamLife)
	defer cancel()
	if out.write([]byte("retry: 3000\n\n")) != nil {
		return nil
	}
	beat := time.NewTimer(untilBeat(r.Principal))
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ws.ctx.Done():
			return nil
		case <-ended:
			if ws.site.changed(r) {
				_ = out.write(reload)
				return nil
			}
		case <-beat.C:
			if ws.site.changed(r) {
				_ = out.write(reload)
				return nil
			}
			if err := out.write([]byte(":\n\n")); err != nil {
				return nil // the browser has disconnected
			}
			beat.Reset(untilBeat(r.Principal))
		case <-st.wake:
			if len(ended) > 0 {
				signal(st.wake) // ended has priority
				continue
			}
			parts, over := c.news(st)
			for name, part := range parts {
				if err := out.write(event(name, r.fill(part))); err != nil {
					return nil
				}
			}
			if over != nil {
				_ = out.write(reload)
				return nil
			}
		}
	}
}

// untilBeat returns the time until the next check of the session: streamBeat, or less if the principal expires earlier.
func untilBeat(p callwright.Principal) time.Duration {
	if ahead := time.Until(p.ExpiresAt); ahead > 0 {
		return min(ahead, streamBeat)
	}
	return streamBeat
}

// reload is a server-sent event that makes the browser reload the page.
var reload = []byte("event: reload\ndata:\n\n")

// changed reports whether the user may no longer see the page or has other entitlements. A temporary error, such as an unreachable
// database, is no change.
func (s *Site) changed(r *Request) bool {
	before := rights(r.Principal)
	if err := s.admit(r); err != nil {
		return !passing(err)
	}
	return rights(r.Principal) != before
}

// event returns a server-sent event (HTML, section 9.2) with a live part. Its first line of data is the part's name. Carriage returns
// become line feeds, because they end lines of a stream and users' texts may contain them.
func event(name string, part []byte) []byte {
	b := []byte("event: part\ndata: " + url.PathEscape(name) + "\n")
	part = bytes.ReplaceAll(bytes.ReplaceAll(part, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.Lines(part) {
		b = append(append(append(b, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
	}
	return append(b, '\n')
}

// writer writes to a stream, with a deadline of streamTimeout per write, and flushes after each write.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o writer) write(b []byte) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(streamTimeout)) // not every ResponseWriter supports deadlines
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}
