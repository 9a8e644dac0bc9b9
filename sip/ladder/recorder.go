package ladder

import (
	"fmt"
	"slices"
	"sync"
)

// Recorder records the ladder of one call attempt. The zero value is ready to use. A Recorder is safe for concurrent use.
type Recorder struct {
	// Observe, if set before the first Add, is called with every recorded event, in order. It must neither block nor call the Recorder.
	Observe func(Event)

	mu      sync.Mutex
	events  []Event
	bytes   int
	omitted int
	last    Event // last omitted event
}

// usual is the number of events of a typical answered call, for which Add allocates memory.
const usual = 16

// reserved is the number of bytes that are kept free for the note about omitted steps.
const reserved = 256

// Add records a step, or counts it as omitted if the ladder is full. It removes unprintable characters from texts, replaces the rest of a
// text from the first secret with "[redacted]", and truncates long texts.
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

// Events returns the events so far, and a final note about omitted steps, if any.
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
