package postgres

import (
	"syscall"
)

// userTimeout is TCP_USER_TIMEOUT. Package syscall does not define it for all architectures.
const userTimeout = 0x12

// giveUp makes the kernel close a connection whose data stays unacknowledged for too long. Keep-alive does not help there: the kernel sends
// no keep-alive packets while data is unacknowledged, and retransmits the data for a quarter of an hour.
func giveUp(_, network string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(unacknowledged.Milliseconds())) // an error only delays the detection
	})
}
