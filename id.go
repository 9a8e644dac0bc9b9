package callwright

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// IDs generates identifiers.
type IDs interface {
	// New returns a globally unique identifier that sorts after all identifiers that this generator returned before.
	New() string
}

// UUIDs generates version 7 UUIDs (RFC 9562, section 5.7): milliseconds, then a counter of 12 bits that orders UUIDs of one
// millisecond, then 62 random bits. The zero value is ready to use.
type UUIDs struct {
	mu   sync.Mutex
	last uint64 // milliseconds << 12 | counter
}

// New returns a UUID that sorts after all UUIDs that u returned before. It is safe for concurrent use.
func (u *UUIDs) New() string {
	var b [16]byte
	_, _ = rand.Read(b[8:]) // crypto/rand never returns an error: it crashes the program instead
	stamp := u.next(uint64(time.Now().UnixMilli()))
	binary.BigEndian.PutUint64(b[:8], stamp>>12<<16|0x7000|stamp&0xfff)
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}

// next returns a stamp greater than all previous ones. If the machine's clock goes back, next increments the last stamp.
func (u *UUIDs) next(millis uint64) uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = max(u.last+1, millis<<12)
	return u.last
}
