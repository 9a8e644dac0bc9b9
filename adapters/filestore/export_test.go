package filestore

import (
	"os"

	"github.com/callwright/callwright/agents/call"
)

// NewFile returns a writer of a recording to an open file.
func NewFile(f *os.File) call.RecordingFile { return file{f} }

// Coded translates the error of a file of a kind. Fill writes audio to a file.
var (
	Coded = coded
	Fill  = fill
)
