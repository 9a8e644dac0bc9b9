//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package platform

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// flock locks an open file until it is closed. taken reports whether another process holds the lock.
func flock(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// shared reports whether other users may access a file. If root owns the file and this process does not run as root, the file's group may
// read it, because Kubernetes mounts secrets with such modes.
func shared(info fs.FileInfo) bool {
	forbidden := fs.FileMode(0o077)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == 0 && os.Geteuid() != 0 {
		forbidden = 0o037
	}
	return info.Mode().Perm()&forbidden != 0
}

// owner returns the user that owns a file. foreign reports whether the owner is neither the current user nor root. Such an owner can read
// and change the file regardless of its mode.
func owner(info fs.FileInfo) (uid uint32, foreign bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return stat.Uid, stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}

// mostFiles returns the soft limit of open files of this process, which Go has raised to the hard limit.
func mostFiles() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err //nolint:unconvert // it is signed on some systems
}
