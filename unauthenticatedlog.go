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

// UnauthenticatedLog limits the log lines of requests without a key: the first request of each address writes a line, and later requests
// are counted in at most one line a minute. Set Logger before the first call of Visit.
type UnauthenticatedLog struct {
	Logger *slog.Logger

	mu     sync.Mutex
	counts map[string]int // of requests without a line, by address
}

// Visit counts a request of an address, and calls log to write its line if the request is the first one within a minute.
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

// writeMinute writes the line of a minute if it counted any requests, and then begins the next minute.
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
