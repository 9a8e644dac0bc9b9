// Command contract processes the HTTP contract. The folder contract contains the contract in parts, one for each area.
//
//	contract bundle FOLDER FILE                      joins the parts to the one document that is served
//	contract area FILE [TAG...]                      prints a document with only these tags' operations, for ogen
//	contract generate FILE FOLDER PACKAGE=TAG,TAG... generates a Go package for each area, below a folder with ogen.yml
//
// Without tags, area includes every operation.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/callwright/callwright/internal/tools/contract/simplify"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "bundle":
			return bundleTo(args[1:])
		case "area":
			return printArea(args[1:])
		case "generate":
			return generate(args[1:])
		}
	}
	return errors.New("usage: contract bundle FOLDER FILE | area FILE [TAG...] | generate FILE FOLDER PACKAGE=TAG[,TAG]")
}

func bundleTo(args []string) error {
	if len(args) != 2 {
		return errors.New("bundle takes the folder of the parts and the file to write")
	}
	text, err := Bundle(os.DirFS(args[0]))
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], text, 0o644) //nolint:gosec // everybody may read the contract
}

func printArea(args []string) error {
	if len(args) == 0 {
		return errors.New("area takes the contract's file and tags")
	}
	text, err := os.ReadFile(args[0]) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	area, err := Area(text, args[1:])
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(area)
	return err
}

// generate runs ogen on each area with the settings in the folder's ogen.yml. It processes as many areas concurrently as there are
// processors. Every tag of the contract except the operational pages must belong to one area.
func generate(args []string) error {
	if len(args) < 3 {
		return errors.New("generate takes the contract's file, a folder, and areas such as triageoas=Triage")
	}
	text, err := os.ReadFile(args[0]) //nolint:gosec // the caller names the file
	if err != nil {
		return err
	}
	areas := args[2:]
	if err := checkAreas(text, areas); err != nil {
		return err
	}
	faults := make([]error, len(areas))
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var running sync.WaitGroup
	for i, area := range areas {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			name, tags, _ := strings.Cut(area, "=")
			faults[i] = generateArea(text, args[1], name, strings.Split(tags, ","))
		})
	}
	running.Wait()
	return errors.Join(faults...)
}

// handwritten is the tag of the operations without a generated package.
const handwritten = "Operations"

// checkAreas returns an error if a tag other than handwritten belongs to no area, or if two areas share a tag.
func checkAreas(text []byte, areas []string) error {
	document, err := parse(text)
	if err != nil {
		return err
	}
	of := map[string]string{}
	for _, area := range areas {
		name, tags, _ := strings.Cut(area, "=")
		for tag := range strings.SplitSeq(tags, ",") {
			if other, taken := of[tag]; taken {
				return fmt.Errorf("%s and %s share the tag %s; each tag belongs to one area", other, name, tag)
			}
			of[tag] = name
		}
	}
	for _, tag := range sequence(member(document, "tags")) {
		if name := member(tag, "name").Value; of[name] == "" && name != handwritten {
			return fmt.Errorf("no area has the tag %s; each tag belongs to one area", name)
		}
	}
	return nil
}

// generateArea generates the package of the given tags. name is the name of the package and of its folder below folder.
func generateArea(text []byte, folder, name string, tags []string) error {
	area, err := Area(text, tags)
	if err != nil {
		return err
	}
	input, err := os.CreateTemp("", "contract-*.yaml")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(input.Name()) }()
	if _, err := input.Write(area); err != nil {
		return err
	}
	if err := input.Close(); err != nil {
		return err
	}
	//nolint:gosec,noctx // the caller names the package, and ends the command
	ogen := exec.Command("go", "tool", "ogen", "--target", filepath.Join(folder, name), "--package", name, "--config",
		filepath.Join(folder, "ogen.yml"), "--clean", "--loglevel", "error", input.Name())
	ogen.Stdout, ogen.Stderr = os.Stdout, os.Stderr
	if err := ogen.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := simplifyPackage(filepath.Join(folder, name), name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	whole, err := areaOf(text, tags, true)
	if err != nil {
		return err
	}
	glue, err := AreaFile(whole, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(folder, name, "oas_area_gen.go"), glue, 0o644) //nolint:gosec // as ogen's files
}

// simplifyPackage shortens ogen's files in a folder, deletes the files that become empty, and adds the functions that the shortened code
// calls.
func simplifyPackage(folder, name string) error {
	files, err := filepath.Glob(filepath.Join(folder, "oas_*_gen.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file) //nolint:gosec // ogen has written it
		if err != nil {
			return err
		}
		short, err := simplify.File(file, source)
		switch {
		case err != nil:
			return err
		case short == nil:
			err = os.Remove(file) //nolint:gosec // ogen has written it
		default:
			err = os.WriteFile(file, short, 0o644) //nolint:gosec // as ogen's files
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "oas_methods_gen.go"), simplify.Methods(name), 0o644) //nolint:gosec // as ogen's files
}
