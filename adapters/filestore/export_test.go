package filestore

import (
	"os"

	"github.com/callwright/callwright/agents/call"
)

// NewFile returns the writer of a recording for an open file, for tests.
func NewFile(f *os.File) call.RecordingFile { return file{f} }

// Coded and Fill export unexported functions for tests.
var (
	Coded = coded
	Fill  = fill
)
