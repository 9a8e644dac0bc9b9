package speech

import (
	"container/list"
	"errors"
	"io"
	"sync"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
	"github.com/callwright/callwright/speech/tts"
)

// prompts caches the audio spoken in calls, so that, for example, a greeting is synthesized only once. It holds a limited number of bytes
// and evicts the least recently used audio. Each organization has separate entries, so that response times do not reveal the texts of other
// organizations.
type prompts struct {
	most    int64 // limit in bytes
	longest int   // limit of one prompt in samples

	mu    sync.Mutex
	bytes int64
	byKey map[promptKey]*list.Element
	used  *list.List // of *prompt, the most recently used first
}

type promptKey struct {
	org     callwright.OrgID
	request tts.Request
}

type prompt struct {
	key   promptKey
	audio []int16
	marks []tts.Mark
}

// size returns the estimated memory of a prompt in bytes, including its entries in the map and the list.
func (p *prompt) size() int64 {
	return int64(2*len(p.audio)+32*len(p.marks)+len(p.key.request.Text)) + 256
}

// newPrompts returns a cache of at most the given number of bytes, or nil if the number is not positive.
func newPrompts(most int64) *prompts {
	if most <= 0 {
		return nil
	}
	return &prompts{most: most, longest: int(most / 2 / 16), byKey: map[promptKey]*list.Element{}, used: list.New()}
}

// find returns a cached prompt, which becomes the most recently used one. The caller must not change it.
func (c *prompts) find(key promptKey) (*prompt, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.used.MoveToFront(at)
	return at.Value.(*prompt), true //nolint:forcetypeassert // nothing else is in the list
}

// leastLoudness is the level of the quietest audio that may be speech, in dBFS. tts.Synthesizer demands it: 0.5 % of full scale.
const leastLoudness = -46.0

// add caches audio with its marks, which the caller must not change afterwards. It ignores audio that is empty, inaudible, too long, or
// cached already.
func (c *prompts) add(key promptKey, audio []int16, marks []tts.Mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok || len(audio) == 0 || len(audio) > c.longest || pcm.Loudness(audio) < leastLoudness {
		return
	}
	p := &prompt{key, audio, marks}
	c.byKey[key] = c.used.PushFront(p)
	c.bytes += p.size()
	for c.bytes > c.most {
		last := c.used.Back()
		old := c.used.Remove(last).(*prompt) //nolint:forcetypeassert // nothing else is in the list
		delete(c.byKey, old.key)
		c.bytes -= old.size()
	}
}

// learning is a stream that passes its audio and its marks to the function keep when a Read returns io.EOF.
type learning struct {
	tts.Stream
	keep  func([]int16, []tts.Mark)
	most  int
	audio []int16
}

// Read reads from the stream and collects the samples until their number exceeds the limit most.
func (l *learning) Read(p []int16) (int, error) {
	n, err := l.Stream.Read(p)
	if len(l.audio) <= l.most {
		l.audio = append(l.audio, p[:n]...)
	}
	if errors.Is(err, io.EOF) && l.audio != nil {
		l.keep(l.audio, l.Marks())
		l.audio = nil
	}
	return n, err
}

// Marks implements tts.Marker.
func (l *learning) Marks() []tts.Mark { return tts.MarksOf(l.Stream) }
