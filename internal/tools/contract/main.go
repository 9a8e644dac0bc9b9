// Command contract works on the HTTP contract, which is kept in parts by area in the folder contract.
//
//	contract bundle FOLDER FILE             joins the parts to the one document that is served
//	contract area FILE [TAG...]             prints a document with these tags' operations alone, as ogen takes it
//	contract generate [flags] FILE [TAG...] generates a Go package of these tags' operations
//
// Without a tag, area and generate take every operation.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	return errors.New("usage: contract bundle FOLDER FILE | area FILE [TAG...] | generate -package NAME -target FOLDER FILE [TAG...]")
}

func bundleTo(args []string) error {
	if len(args) != 2 {
		return errors.New("bundle takes the folder of the parts and the file to write")
	}
	text, err := Bundle(os.DirFS(args[0]))
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], text, 0o644)
}

func printArea(args []string) error {
	if len(args) == 0 {
		return errors.New("area takes the contract's file and tags")
	}
	text, err := os.ReadFile(args[0])
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

// generate runs ogen on an area, with the settings of the file ogen.yml in the target folder.
func generate(args []string) error {
	flags := flag.NewFlagSet("generate", flag.ContinueOnError)
	name := flags.String("package", "", "`name` of the package")
	target := flags.String("target", "", "`folder` of the package; it holds ogen.yml")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name == "" || *target == "" || flags.NArg() == 0 {
		return errors.New("generate takes -package, -target, the contract's file and tags")
	}
	text, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	area, err := Area(text, flags.Args()[1:])
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "contract")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	input := filepath.Join(folder, "openapi.yaml")
	if err := os.WriteFile(input, area, 0o600); err != nil {
		return err
	}
	ogen := exec.Command("go", "tool", "ogen", "--target", *target, "--package", *name, "--config",
		filepath.Join(*target, "ogen.yml"), "--clean", "--loglevel", "error", input)
	ogen.Stdout, ogen.Stderr = os.Stdout, os.Stderr
	return ogen.Run()
}
