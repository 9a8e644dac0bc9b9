// Command release sets the version that the modules in go.work require of each other, and writes the modules in the format of a module
// proxy.
//
//	release [-C TREE] set VERSION              in the go.mod files and in go.work
//	release [-C TREE] proxy FOLDER VERSION     a proxy for GOPROXY=file://FOLDER, with every module at that version
//
// Like go -C, -C first changes to the tree. FOLDER is relative to it. "proxy" does not change the tree.
//
// A release consists of "set", a commit, a tag VERSION, and a tag FOLDER/VERSION for each other module. Between releases the version is
// v0.0.0.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

// root is the path of the root module. The paths of all other modules begin with it.
const root = "github.com/callwright/callwright"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 1 && args[0] == "-C" {
		if err := os.Chdir(args[1]); err != nil {
			return err
		}
		args = args[2:]
	}
	folders, err := modules(".")
	if err != nil {
		return err
	}
	switch {
	case len(args) == 2 && args[0] == "set":
		return set(".", folders, args[1])
	case len(args) == 3 && args[0] == "proxy":
		return proxy(ctx, ".", folders, args[1], args[2])
	default:
		return errors.New("usage: release [-C TREE] set VERSION, or release [-C TREE] proxy FOLDER VERSION")
	}
}

// modules returns the folders of the modules in the go.work of a tree.
func modules(tree string) ([]string, error) {
	work, err := readWork(tree)
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, use := range work.Use {
		folders = append(folders, filepath.Clean(use.Path))
	}
	return folders, nil
}

func readWork(tree string) (*modfile.WorkFile, error) {
	name := filepath.Join(tree, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(name, text, nil)
}

// set makes the modules require each other at the given version, for which go.work substitutes the modules of this tree.
func set(tree string, folders []string, version string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	work, err := readWork(tree)
	if err != nil {
		return err
	}
	for _, r := range work.Replace {
		old, target := r.Old, r.New.Path
		err = errors.Join(err, work.DropReplace(old.Path, old.Version), work.AddReplace(old.Path, version, target, ""))
	}
	work.Cleanup()
	work.SortBlocks()
	if err = errors.Join(err, os.WriteFile(filepath.Join(tree, "go.work"), modfile.Format(work.Syntax), 0o644)); err != nil { //nolint:gosec // a file of the repository
		return err
	}
	for _, folder := range folders {
		name := filepath.Join(tree, folder, "go.mod")
		_, text, err := requiring(name, version)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	return nil
}

func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("%s is no version such as v0.12.0", version)
	}
	return nil
}

// requiring returns the path of the module in a go.mod file with the given version, and the file's text with the modules of this repository
// required at that version.
func requiring(name, version string) (m module.Version, text []byte, err error) {
	text, err = os.ReadFile(name)
	if err != nil {
		return m, nil, err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return m, nil, err
	}
	for _, r := range f.Require {
		if own(r.Mod.Path) {
			err = errors.Join(err, f.AddRequire(r.Mod.Path, version))
		}
	}
	f.Cleanup()
	text, formatErr := f.Format()
	return module.Version{Path: f.Module.Mod.Path, Version: version}, text, errors.Join(err, formatErr)
}

func own(path string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// proxy writes each module, at the given version, to the folder target in the layout of a module proxy. The modules contain the files in
// git, and their go.mod files require each other at that version.
func proxy(ctx context.Context, tree string, folders []string, target, version string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	for _, folder := range folders {
		m, text, err := requiring(filepath.Join(tree, folder, "go.mod"), version)
		if err != nil {
			return err
		}
		if err := writeModule(ctx, tree, folder, m, text, target); err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	return nil
}

func writeModule(ctx context.Context, tree, folder string, m module.Version, text []byte, target string) error {
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	at := filepath.Join(target, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o750); err != nil { //nolint:gosec // where the caller says
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return err
	}
	files, err := tracked(ctx, tree, folder, text)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, m, files); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		m.Version + ".mod": text, m.Version + ".info": info, m.Version + ".zip": archive.Bytes(), "list": []byte(m.Version + "\n"),
	} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o600); err != nil { //nolint:gosec // where the caller says
			return err
		}
	}
	return nil
}
