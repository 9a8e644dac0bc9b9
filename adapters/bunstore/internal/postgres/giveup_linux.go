package postgres

import (
	"syscall"
)

// userTimeout is TCP_USER_TIMEOUT, which package syscall does not name on all processors.
const userTimeout = 0x12

// giveUp makes the kernel end a connection whose data stays unacknowledged: keep-alive packets are not sent while there is some, and the
// kernel itself tries for a quarter of an hour.
func giveUp(_, network string, c syscall.RawConn) error {
	if network == "unix" {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(unacknowledged.Milliseconds())) // without it, it takes longer
	})
}
