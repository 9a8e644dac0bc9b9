//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package platform

import (
	"io/fs"
	"math"
	"os"
)

// flock locks nothing: this system has no such lock.
func flock(*os.File) (taken bool, err error) { return false, nil }

// shared reports nothing: this system has no modes of files that tell.
func shared(fs.FileInfo) bool { return false }

// owner reports nothing: see shared.
func owner(fs.FileInfo) (uid uint32, foreign bool) { return 0, false }

// mostFiles returns the limit of open files of this process: this system has no limit to query.
func mostFiles() (uint64, error) { return math.MaxUint64, nil }
