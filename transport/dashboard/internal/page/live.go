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
	streamBeat    = 15 * time.Second // between checks of the session, each with a comment that keeps the connection open
	streamLife    = 15 * time.Minute // then the browser comes again
	streamTimeout = 10 * time.Second // for a browser to read a message
	maxRest       = 30 * time.Second // between two renderings, however long Wait waits
	renderTimeout = 10 * time.Second // for one rendering
	minRest       = 250 * time.Millisecond
)

// watchers holds the browsers that watch live parts, and renders each part once for all at the same address of an organization.
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
	rights  string // entitlements of the viewer
	zone    string // in which days are counted
	address string
}

// rights returns the entitlements of a principal as one text.
func rights(p callwright.Principal) string {
	return fmt.Sprintf("%q", slices.Sorted(slices.Values(p.Entitlements)))
}

// channel is the state that all streams of one address share.
type channel struct {
	stop    context.CancelFunc
	joined  chan struct{} // holds a value when a stream waits for the next rendering
	mu      sync.Mutex
	begun   int               // renderings
	done    int               // the last one whose parts are in latest
	latest  map[string][]byte // by the names of templates
	over    error             // why nothing more is rendered; nil: more is
	streams map[*stream]bool
}

// stream is one browser's view of a channel. It has no queue: a newer rendering replaces one that it did not read in time. It skips renderings
// from before its start, which may be older than its page.
type stream struct {
	wake chan struct{} // holds a value when there is something new
	from int           // the first rendering for it
	sent map[string][]byte
}

func newWatchers(s *Site) *watchers {
	ctx, stop := context.WithCancel(context.Background())
	return &watchers{site: s, ctx: ctx, stop: stop, channels: map[channelKey]*channel{}, perOrg: map[callwright.OrgID]int{}}
}

// close ends all streams and waits until their goroutines have ended.
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

// join adds a stream to the channel of a request, which it starts if it is the first.
func (ws *watchers) join(r *Request, route Route) (c *channel, st *stream, leave func(), err error) {
	key := channelKey{r.Principal.Org, rights(r.Principal), r.zone.String(), r.URL.RequestURI()}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed || ws.open >= ws.site.cfg.Streams || ws.perOrg[key.org] >= ws.site.cfg.OrgStreams {
		return nil, nil, nil, &callwright.Error{
			Code: callwright.CodeTooManyRequests, Message: "too many live pages are open: this one shows how it was", RetryAfter: streamBeat,
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

// add adds a stream, for which the next rendering is, and asks for that.
func (c *channel) add(st *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.from = c.begun + 1
	c.streams[st] = true
	if c.over != nil {
		signal(st.wake) // nothing more is rendered
	}
	if c.begun > 0 {
		signal(c.joined)
	}
}

// leave deletes a stream from its channel, which ends with the last.
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

// run renders the live parts until no stream is left, or until they cannot be rendered.
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
			view = &View{Every: maxRest} // the database may come back
		}
		c.rest(ctx, view)
	}
}

// begin counts a rendering, and returns its number.
func (c *channel) begin() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return c.begun
}

// passing reports whether an error may be gone at the next rendering.
func passing(err error) bool {
	return errors.Is(err, callwright.ErrUnavailable) || errors.Is(err, callwright.ErrTooManyRequests) || errors.Is(err, context.DeadlineExceeded)
}

// Poll returns a View.Wait for a value that is cheap to read and compare. It calls read every LiveEvery until the value differs from shown, the value
// of the View.
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

// rest waits until a view may have changed, or until a stream joins.
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

// sleep waits for a time, or until a context ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// renderLive renders the live templates of a page.
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

// errOver means that a page is no longer live, such as the page of an ended call.
var errOver = &callwright.Error{Code: callwright.CodeNotFound, Message: "the page is not live"}

// publish passes the rendered parts to the streams of a channel, or the error of the rendering.
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

// news returns the parts that a stream was not sent yet; over is not nil if no more follow.
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

// serve streams the live parts of a page until the browser goes or does not read, or until the viewer may no longer see the page.
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
	if err := ws.site.admit(r); err != nil { // the session may have ended before Watch
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
				return nil // the browser has gone
			}
			beat.Reset(untilBeat(r.Principal))
		case <-st.wake:
			if len(ended) > 0 {
				signal(st.wake) // after that
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

// untilBeat returns the time until the next check of the principal: at the end of its session or key, if that comes sooner.
func untilBeat(p callwright.Principal) time.Duration {
	if ahead := time.Until(p.ExpiresAt); ahead > 0 {
		return min(ahead, streamBeat)
	}
	return streamBeat
}

// reload is a server-sent event that makes the browser reload the page.
var reload = []byte("event: reload\ndata:\n\n")

// changed reports whether the viewer may no longer see the page, or has other rights. An unreachable database ends no session.
func (s *Site) changed(r *Request) bool {
	before := rights(r.Principal)
	if err := s.admit(r); err != nil {
		return !passing(err)
	}
	return rights(r.Principal) != before
}

// event is a server-sent event (HTML, section 9.2) with a fragment: its first line is the fragment's name. A carriage return ends a line
// there, too: texts of strangers may hold one.
func event(name string, part []byte) []byte {
	b := []byte("event: part\ndata: " + url.PathEscape(name) + "\n")
	part = bytes.ReplaceAll(bytes.ReplaceAll(part, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	for line := range bytes.Lines(part) {
		b = append(append(append(b, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
	}
	return append(b, '\n')
}

// writer writes parts of an answer and flushes each.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o writer) write(b []byte) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(streamTimeout)) // a writer without deadlines has none
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}
