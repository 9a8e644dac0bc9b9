package portingapi

import (
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/document"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/portingoas"
)

// Config holds the services of the area. If a service is nil, its operations answer 501.
type Config struct {
	Ports     *porting.Service
	Documents *document.Service
	Letters   *loa.Service
}

// api implements the operations of the area.
type api struct {
	oas.UnimplementedHandler
	cfg Config
}

// New returns the area of port requests, their documents and their letters of authorization.
func New(c Config) httpapi.Area {
	a := &api{cfg: c}
	return httpapi.Area{
		Area:      oas.Area(a),
		Absent:    c.absent,
		NoUploads: c.Documents == nil,
		Refuse:    a.refuse,
		Inner:     oneFile,
		Wrap:      func(s httpapi.Server) (httpapi.Server, error) { return pages{s}, nil },
	}
}

// absent reports whether the service of an operation is nil.
func (c Config) absent(operation string) bool {
	switch operation {
	case oas.UploadPortDocumentOperation:
		return c.Documents == nil
	case oas.ShowLetterOperation, oas.SignLetterOperation, oas.DownloadLetterOperation, oas.GetPortLetterOperation, oas.DownloadPortLetterOperation:
		return c.Letters == nil
	}
	return c.Ports == nil
}
