package filestore

import (
	"os"

	"github.com/callwright/callwright/agents/call"
)

// NewFile returns what writes a recording to a file that is open.
func NewFile(f *os.File) call.RecordingFile { return file{f} }

// Coded translates the error of a file of a kind. Fill writes audio to a file.
var (
	Coded = coded
	Fill  = fill
)
