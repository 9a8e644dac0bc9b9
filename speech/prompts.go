package speech

import (
	"container/list"
	"errors"
	"io"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/tts"
)

// prompts caches the audio spoken in calls, so that a greeting is not synthesized for each of them. It holds a bounded number of
// bytes and evicts the least recently used audio. Organizations have separate entries: the time of an answer does not reveal the
// texts of others.
type prompts struct {
	most    int64 // bytes
	longest int   // samples of one prompt

	mu    sync.Mutex
	bytes int64
	byKey map[promptKey]*list.Element
	used  *list.List // of *prompt, the last used first
}

type promptKey struct {
	org     callwright.OrgID
	request tts.Request
}

type prompt struct {
	key   promptKey
	audio []int16
}

// size returns the size of a prompt in bytes, including its place in the list.
func (p *prompt) size() int64 { return int64(2*len(p.audio)+len(p.key.request.Text)) + 256 }

// newPrompts returns a cache of at most the given bytes; nil for 0 or less.
func newPrompts(most int64) *prompts {
	if most <= 0 {
		return nil
	}
	return &prompts{most: most, longest: int(most / 2 / 16), byKey: map[promptKey]*list.Element{}, used: list.New()}
}

// find returns cached audio, which must not be changed.
func (c *prompts) find(key promptKey) ([]int16, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.used.MoveToFront(at)
	return at.Value.(*prompt).audio, true //nolint:forcetypeassert // nothing else is in the list
}

// add stores audio, which must not be changed afterwards.
func (c *prompts) add(key promptKey, audio []int16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || len(audio) == 0 || len(audio) > c.longest {
		return
	}
	p := &prompt{key, audio}
	c.byKey[key] = c.used.PushFront(p)
	c.bytes += p.size()
	for c.bytes > c.most {
		last := c.used.Back()
		old := c.used.Remove(last).(*prompt) //nolint:forcetypeassert // nothing else is in the list
		delete(c.byKey, old.key)
		c.bytes -= old.size()
	}
}

// learning caches the audio of a stream that is read to its end and is not too long.
type learning struct {
	tts.Stream
	keep  func([]int16)
	most  int
	audio []int16
}

// Read returns the next samples.
func (l *learning) Read(p []int16) (int, error) {
	n, err := l.Stream.Read(p)
	if len(l.audio) <= l.most {
		l.audio = append(l.audio, p[:n]...)
	}
	if errors.Is(err, io.EOF) && l.audio != nil {
		l.keep(l.audio)
		l.audio = nil
	}
	return n, err
}
