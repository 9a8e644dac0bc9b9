//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package platform

import (
	"io/fs"
	"math"
	"os"
)

// flock does nothing, because this system has no such lock.
func flock(*os.File) (taken bool, err error) { return false, nil }

// shared returns false, because the file modes of this system do not show access by other users.
func shared(fs.FileInfo) bool { return false }

// owner returns no foreign owner, for the same reason as shared.
func owner(fs.FileInfo) (uid uint32, foreign bool) { return 0, false }

// mostFiles returns the highest number, because this system has no limit of open files to query.
func mostFiles() (uint64, error) { return math.MaxUint64, nil }
