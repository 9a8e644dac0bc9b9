package portingapi

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// EventsBelow is the path prefix of the requests that GatewayEvents serves. They have no API key, so mount the handler outside of the API.
const EventsBelow = "/internal/gateways/"

// Limits of carriers' messages.
const (
	maxEvent  = 64 << 10 // bytes
	maxHints  = 1000
	maxEvents = 16               // concurrent messages with a valid signature
	eventTime = 10 * time.Second // time limit for receiving a whole message
)

// GatewayEvents returns a handler for carriers' messages about orders. The path of a message is EventsBelow, the name of a gateway and
// "/webhook". A message is only a hint: soon after it, the service compares the port request with the carrier's order. If logger is nil,
// refused messages are not logged.
//
// The handler answers 202 for an accepted message, 401 for a message without the carrier's signature, and 400 for an unreadable one. It
// answers 404 if no such gateway exists or its carrier sends no messages, and 413 for a message that is too large. It answers 503 if there
// are too many concurrent messages or the service is unavailable; the carrier should then send the message again.
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
	readers map[string]porting.EventReader // by name of the gateway
	busy    chan struct{}                  // contains an element for each signed message in progress
}

// ServeHTTP receives a message, and logs the reason if it refuses the message.
func (e events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	status, err := e.receive(w, r, name)
	if err != nil {
		e.logger.WarnContext(r.Context(), "a message of a carrier is refused", "gateway", name, "status", status, "error", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
}

// receive reads a message and schedules a check of the port requests that it concerns. It returns the status of the answer. If it refuses
// the message for a reason other than an unknown gateway, it also returns an error.
func (e events) receive(w http.ResponseWriter, r *http.Request, name string) (status int, err error) {
	reader := e.readers[name]
	if reader == nil {
		return http.StatusNotFound, nil
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(eventTime)) // fails only for writers without deadlines
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
			err = fmt.Errorf("%d messages are being processed, which is the limit: the carrier should send this one again", maxEvents)
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
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the message has %d events: at most %d are allowed", len(hints), maxHints)
	}
	for _, h := range hints {
		if err := e.service.Hear(r.Context(), name, h); err != nil {
			return http.StatusServiceUnavailable, err
		}
	}
	return http.StatusAccepted, nil
}
