package callwright

import (
	"log/slog"
	"sync"
	"time"
)

// The bounds of Strangers.
const (
	strangersEvery = time.Minute
	mostStrangers  = 10_000 // addresses at once; those beyond share one line
	otherStrangers = "others"
)

// Strangers keeps what people without a key do from filling the log: of each address the first request has its line, and those that
// follow are counted, with one line a minute. Set Logger before the first Visit.
type Strangers struct {
	Logger *slog.Logger

	mu     sync.Mutex
	counts map[string]int // of requests without a line, by address
}

// Visit notes a request of an address, and writes its line with log if it is the first one within a minute.
func (s *Strangers) Visit(address string, log func()) {
	s.mu.Lock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	if _, known := s.counts[address]; !known && len(s.counts) >= mostStrangers {
		address = otherStrangers
	}
	_, known := s.counts[address]
	if known {
		s.counts[address]++
	} else {
		s.counts[address] = 0
		time.AfterFunc(strangersEvery, func() { s.tell(address) })
	}
	s.mu.Unlock()
	if !known {
		log()
	}
}

// tell writes the line of a minute, and begins the next one if there was something to tell.
func (s *Strangers) tell(address string) {
	s.mu.Lock()
	count := s.counts[address]
	if count == 0 {
		delete(s.counts, address)
	} else {
		s.counts[address] = 0
		time.AfterFunc(strangersEvery, func() { s.tell(address) })
	}
	s.mu.Unlock()
	if count > 0 {
		s.Logger.Info("requests without a key", "client", address, "count", count)
	}
}
