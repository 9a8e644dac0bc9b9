package callsapi

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/callwright/callwright/transport/httpapi"
	oas "github.com/callwright/callwright/transport/oas/callsoas"
)

// GetRecording serves GET /v1/recordings/{call_id}. It streams a call's recording, or the range that the request names.
func (a *api) GetRecording(ctx context.Context, params oas.GetRecordingParams, w http.ResponseWriter) error {
	recording, err := a.cfg.Calls.Recording(ctx, httpapi.Org(ctx), params.CallID)
	if err != nil {
		return err
	}
	defer func() { _ = recording.Close() }()
	// ServeContent reads only the method and the range and conditional headers of this request.
	asked := &http.Request{Method: http.MethodGet, Header: http.Header{}}
	if httpapi.Head(ctx) {
		asked.Method = http.MethodHead
	}
	if value, ok := params.Range.Get(); ok {
		asked.Header.Set("Range", value)
	}
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Cache-Control", "private, no-store")
	http.ServeContent(w, asked.WithContext(ctx), "", time.Time{}, io.ReadSeeker(recording))
	return nil
}
