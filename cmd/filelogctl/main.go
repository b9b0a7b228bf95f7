// Command filelogctl looks into the file in which the Collector's file_storage
// keeps the state of a file log receiver, and changes nothing:
//
//	filelogctl [-json] [-archive] PATH/TO/receiver_filelog_NAME
//	filelogctl check [-json] PATH/TO/receiver_filelog_NAME
//
// The first prints which files are known and how far each was read; check tells
// whether everything stored is whole. Its exit status is 0 if it is, 1 if
// something is damaged, and 2 if the file cannot be read. States that upstream's
// receiver wrote, as protobuf or as JSON, are read too. When the Collector has
// the file open, a copy of it is read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// Exit statuses.
const (
	exitWhole = iota
	exitDamaged
	exitFailed
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the command with its arguments and streams; it returns the exit status.
func run(arguments []string, out, complaints io.Writer) int {
	check := len(arguments) > 0 && arguments[0] == "check"
	name := "filelogctl"
	if check {
		name, arguments = "filelogctl check", arguments[1:]
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(complaints)
	asJSON := flags.Bool("json", false, "print JSON")
	archive := flags.Bool("archive", false, "print the files in the archive too")
	flags.Usage = func() {
		fmt.Fprintf(complaints, "usage: filelogctl [-json] [-archive] PATH\n       filelogctl check [-json] PATH\n\nPATH is the file of file_storage for the receiver: receiver_filelog_NAME.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitWhole
		}
		return exitFailed
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return exitFailed
	}
	report, err := look(context.Background(), flags.Arg(0))
	if err != nil {
		fmt.Fprintf(complaints, "filelogctl: %v\n", err)
		return exitFailed
	}
	switch {
	case *asJSON:
		err = report.printJSON(out)
	case check:
		err = report.printCheck(out)
	default:
		err = report.printTable(out, *archive)
	}
	if err != nil {
		fmt.Fprintf(complaints, "filelogctl: %v\n", err)
		return exitFailed
	}
	if check && report.damaged() {
		return exitDamaged
	}
	return exitWhole
}
