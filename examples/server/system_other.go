//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package main

import (
	"io/fs"
	"os"
)

// flock locks nothing: this system has no such lock.
func flock(*os.File) (taken bool, err error) { return false, nil }

// shared reports nothing: this system has no modes of files that tell.
func shared(fs.FileInfo) bool { return false }
