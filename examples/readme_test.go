package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeProgram checks that the program in the README prints the output that the README shows.
func TestReadmeProgram(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "\n## Embed it\n")
	block := func(language string) (text string) {
		_, text, _ = strings.Cut(rest, "\n```"+language+"\n")
		text, rest, _ = strings.Cut(text, "```\n")
		return text
	}
	code, want := block("go"), block("text")
	file := filepath.Join(t.TempDir(), "main.go")
	program := `package main

import (
	"context"
	"fmt"
	"log"

	"github.com/callwright/callwright/adapters/scripted"
	"github.com/callwright/callwright/agents/conversation"
	"github.com/callwright/callwright/agents/prompted"
)

func main() {
	ctx := context.Background()
` + code + "}\n"
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil || code == "" || want == "" || string(got) != want {
		t.Errorf("%v, printed:\n%s\nwant:\n%s", err, got, want)
	}
}
