package ladder

import (
	"fmt"
	"slices"
	"sync"
)

// Recorder keeps the ladder of one attempt. The zero value is ready. It may be used by several goroutines at once.
type Recorder struct {
	// Observe, if set before the first Add, hears of every event that is kept, in order. It must not block, nor call
	// the recorder.
	Observe func(Event)

	mu      sync.Mutex
	events  []Event
	bytes   int
	omitted int
	last    Event // of those that were omitted
}

// usual is how many steps a call has that is answered and ended.
const usual = 16

// reserved is the room for the note that counts what was omitted.
const reserved = 256

// Add takes one step in, unless the ladder is full. Its texts are made printable, cut where a secret begins, and cut
// where they are too long.
func (r *Recorder) Add(e Event) {
	for _, text := range e.texts() {
		limit := maxText
		if text == &e.Detail {
			limit = maxDetail
		}
		*text = clean(*text, limit)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size := e.Size()
	if r.omitted > 0 || len(r.events) >= MaxEvents-1 || r.bytes+size > MaxBytes-reserved {
		r.omitted++
		r.last = e
		return
	}
	if r.events == nil {
		r.events = make([]Event, 0, usual)
	}
	r.events = append(r.events, e)
	r.bytes += size
	if r.Observe != nil {
		r.Observe(e)
	}
}

// Events is the ladder so far: at most MaxEvents and MaxBytes, whatever came.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := slices.Clone(r.events)
	if r.omitted > 0 {
		events = append(events, Event{
			At: r.last.At, Attempt: r.last.Attempt, Note: NoteOmitted, Detail: fmt.Sprintf("%d more steps", r.omitted),
		})
	}
	return events
}
