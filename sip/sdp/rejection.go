package sdp

import (
	"fmt"

	"github.com/callwright/callwright"
)

// Rejection is the reason why a description is refused, with the SIP response to an offer. After an unacceptable answer, the call must be
// acknowledged and ended instead. Use errors.As to find a *Rejection in an error.
type Rejection struct {
	Status  int    // SIP status: 400 or 488
	Warning int    // code of the Warning header (RFC 3261, section 20.43); 0 if none
	Text    string // constant text, safe in a header
}

// The rejections. Errors of Parse, Answer and Accept about a description wrap one of them.
var (
	ErrMalformed     = &Rejection{Status: 400, Text: "Malformed session description"}
	ErrNoAudio       = &Rejection{Status: 488, Warning: 304, Text: "Media type not available: one audio stream is required"}
	ErrNoSRTP        = &Rejection{Status: 488, Warning: 399, Text: "SRTP is required: RTP/SAVP with a=crypto " + Suite}
	ErrAddress       = &Rejection{Status: 488, Warning: 301, Text: "Incompatible network address format"}
	ErrNoCommonCodec = &Rejection{Status: 488, Warning: 305, Text: "Incompatible media format: no common codec"}
)

// Error returns r.Text.
func (r *Rejection) Error() string { return r.Text }

// Unwrap returns ErrBadRequest, so that the error code is CodeBadRequest.
func (r *Rejection) Unwrap() error { return callwright.ErrBadRequest }

func malformed(line int, format string, args ...any) error {
	return fmt.Errorf("sdp line %d: %s: %w", line, fmt.Sprintf(format, args...), ErrMalformed)
}
