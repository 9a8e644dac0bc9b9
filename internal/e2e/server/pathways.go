package server

import (
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// Publish creates a pathway, publishes a document as its first version, and returns the pathway's id.
func (s *Server) Publish(t testing.TB, d graph.Document) string {
	t.Helper()
	created, err := s.API.CreatePathway(t.Context(), &pathwaysoas.PathwayCreate{Name: t.Name()})
	if err != nil {
		t.Fatalf("making a pathway: %v", err)
	}
	s.PublishNext(t, created.PathwayID, d)
	return created.PathwayID
}

// PublishNext publishes a document as the next version of a pathway, and returns the version's number.
func (s *Server) PublishNext(t testing.TB, id string, d graph.Document) int {
	t.Helper()
	version := &pathwaysoas.PathwayVersionCreate{Name: "next"}
	for _, n := range d.Nodes {
		version.Nodes = append(version.Nodes, pathwaysoas.PathwayNode(n))
	}
	for _, e := range d.Edges {
		version.Edges = append(version.Edges, pathwaysoas.PathwayEdge(e))
	}
	saved, err := s.API.CreatePathwayVersion(t.Context(), version, pathwaysoas.CreatePathwayVersionParams{ID: id})
	if err != nil {
		t.Fatalf("saving a version: %v", err)
	}
	number := saved.Data.VersionNumber
	_, err = s.API.PublishPathway(t.Context(), &pathwaysoas.PathwayPublish{VersionID: number}, pathwaysoas.PublishPathwayParams{ID: id})
	if err != nil {
		t.Fatalf("publishing a version: %v", err)
	}
	return number
}

// Chat begins a chat with a pathway's version in production.
func (s *Server) Chat(t testing.TB, pathway string) pathwaysoas.PathwayChat {
	t.Helper()
	chat, err := s.API.CreatePathwayChat(t.Context(), &pathwaysoas.PathwayChatCreate{PathwayID: pathway})
	if err != nil {
		t.Fatalf("beginning a chat: %v", err)
	}
	return chat.Data
}

// Say takes a turn in a chat, and returns the chat's state.
func (s *Server) Say(t testing.TB, chat, message string) pathwaysoas.PathwayChatState {
	t.Helper()
	state, err := s.API.SendPathwayChatMessage(t.Context(), &pathwaysoas.PathwayChatTurn{Message: message},
		pathwaysoas.SendPathwayChatMessageParams{ChatID: chat})
	if err != nil {
		t.Fatalf("saying %q in a chat: %v", message, err)
	}
	return state.Data
}
