package ladder

import (
	"fmt"
	"slices"
	"sync"
)

// Recorder records the ladder of one attempt. The zero value is ready to use, and safe for concurrent use.
type Recorder struct {
	// Observe, if set before the first Add, is called with every event that is kept, in order. It must neither block nor
	// call the recorder.
	Observe func(Event)

	mu      sync.Mutex
	events  []Event
	bytes   int
	omitted int
	last    Event // that was omitted
}

// usual is the number of steps of a call that is answered and ended.
const usual = 16

// reserved is the size of the note that counts omitted steps.
const reserved = 256

// Add records a step, unless the ladder is full. Texts are made printable, and cut at the first secret and at their limit.
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

// Events returns the ladder so far, at most MaxEvents and MaxBytes.
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
