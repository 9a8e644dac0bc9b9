//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package platform

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// owned is a file with another owner.
type owned struct {
	fs.FileInfo

	uid uint32
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: o.uid} }

func TestOwner(t *testing.T) {
	t.Parallel()
	me := uint32(os.Geteuid())
	for uid, want := range map[uint32]bool{0: false, me: false, me + 1: true} {
		if got, foreign := owner(owned{uid: uid}); got != uid || foreign != want {
			t.Errorf("a file of user %d is foreign to user %d: %t", uid, me, foreign)
		}
	}
}
