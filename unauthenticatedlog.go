package callwright

import (
	"log/slog"
	"sync"
	"time"
)

// The bounds of an UnauthenticatedLog.
const (
	unauthenticatedEvery = time.Minute
	maxLoggedAddresses   = 10_000 // concurrent addresses; further ones share one line
	otherAddresses       = "others"
)

// UnauthenticatedLog limits the log lines of requests without a key. The first request of an address writes a line, and so does the first
// one after a minute without requests of that address. Other requests of the address are counted in at most one line a minute. Set Logger
// before the first call of Visit.
type UnauthenticatedLog struct {
	Logger *slog.Logger

	mu     sync.Mutex
	counts map[string]int // of requests without a line, by address
}

// Visit counts a request of an address. It calls the function log to write a line for the request, unless earlier requests of the address
// are still being counted.
func (s *UnauthenticatedLog) Visit(address string, log func()) {
	s.mu.Lock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	if _, known := s.counts[address]; !known && len(s.counts) >= maxLoggedAddresses {
		address = otherAddresses
	}
	_, known := s.counts[address]
	if known {
		s.counts[address]++
	} else {
		s.counts[address] = 0
		time.AfterFunc(unauthenticatedEvery, func() { s.writeMinute(address) })
	}
	s.mu.Unlock()
	if !known {
		log()
	}
}

// writeMinute writes a line with the requests that an address sent in a minute, and begins its next minute. If there were none, it deletes
// the address instead.
func (s *UnauthenticatedLog) writeMinute(address string) {
	s.mu.Lock()
	count := s.counts[address]
	if count == 0 {
		delete(s.counts, address)
	} else {
		s.counts[address] = 0
		time.AfterFunc(unauthenticatedEvery, func() { s.writeMinute(address) })
	}
	s.mu.Unlock()
	if count > 0 {
		s.Logger.Info("requests without a key", "client", address, "count", count)
	}
}
