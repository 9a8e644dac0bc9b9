package portingapi

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// EventsBelow begins the paths of the requests that GatewayEvents takes. They have no API key: mount it beside the API.
const EventsBelow = "/internal/gateways/"

// The bounds of a carrier's message.
const (
	maxEvent  = 64 << 10 // bytes
	maxHints  = 1000
	maxEvents = 16               // concurrent signed messages
	eventTime = 10 * time.Second // for all of a message
)

// GatewayEvents returns a handler for carriers' messages about orders, for each gateway by its name. A message is only a
// hint: the request that it is about is compared with the carrier's order soon. 202: it was taken. 401: it is not the carrier's. 400: it
// cannot be read. 404: there is no such gateway, or its carrier sends none. 413: it is too large. 503: send it
// again; there are too many concurrent messages, or the service is unavailable. A nil logger discards.
func GatewayEvents(s *porting.Service, logger *slog.Logger, gateways ...porting.Gateway) http.Handler {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	e := events{service: s, logger: logger, readers: map[string]porting.EventReader{}, busy: make(chan struct{}, maxEvents)}
	for _, g := range gateways {
		if reader, ok := g.(porting.EventReader); ok {
			e.readers[g.Capabilities().Name] = reader
		}
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+EventsBelow+"{name}/webhook", e)
	return mux
}

type events struct {
	service *porting.Service
	logger  *slog.Logger
	readers map[string]porting.EventReader // by the name of the gateway
	busy    chan struct{}                  // has an element for each signed message that is worked on
}

// ServeHTTP takes a message.
func (e events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	status, err := e.receive(w, r, name)
	if err != nil {
		e.logger.WarnContext(r.Context(), "a message of a carrier is refused", "gateway", name, "status", status, "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
}

// receive reads a message and triggers a check of the requests that it is about. It returns the status of the answer.
func (e events) receive(w http.ResponseWriter, r *http.Request, name string) (status int, err error) {
	reader := e.readers[name]
	if reader == nil {
		return http.StatusNotFound, nil
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(eventTime)) // a writer without deadlines has none
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return http.StatusRequestEntityTooLarge, err
	}
	if err != nil {
		return http.StatusBadRequest, err
	}
	hints, err := reader.ReadEvents(r.Header, body)
	if err == nil {
		select {
		case e.busy <- struct{}{}:
			defer func() { <-e.busy }()
		default:
			err = errors.New("too many concurrent messages")
		}
	}
	switch {
	case errors.Is(err, callwright.ErrAuthFailure):
		return http.StatusUnauthorized, err
	case errors.Is(err, callwright.ErrBadRequest):
		return http.StatusBadRequest, err
	case err != nil:
		return http.StatusServiceUnavailable, err
	case len(hints) > maxHints:
		return http.StatusRequestEntityTooLarge, errors.New("too many events in one message")
	}
	for _, h := range hints {
		if err := e.service.Hear(r.Context(), name, h); err != nil {
			return http.StatusServiceUnavailable, err
		}
	}
	return http.StatusAccepted, nil
}
