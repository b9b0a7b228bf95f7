// Command generate makes Go code of a .proto file with the protoc-gen-go of this
// module's own dependencies. It needs neither protoc nor a download. It reads the
// part of the language that checkpoint.proto uses: messages of plain fields.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE.proto")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parse(string(source))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file.Name = proto.String("otelfilelog/" + filepath.Base(path))
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{file.GetName()},
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      []*descriptorpb.FileDescriptorProto{file},
	})
	if err != nil {
		return err
	}
	plugin := exec.Command("go", "run", "google.golang.org/protobuf/cmd/protoc-gen-go")
	plugin.Stdin = bytes.NewReader(request)
	plugin.Stderr = os.Stderr
	output, err := plugin.Output()
	if err != nil {
		return fmt.Errorf("protoc-gen-go: %w", err)
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, made := range response.File {
		name := filepath.Join(filepath.Dir(path), filepath.Base(made.GetName()))
		if err := os.WriteFile(name, []byte(made.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var (
	comment   = regexp.MustCompile(`//.*`)
	statement = regexp.MustCompile(`^(optional |repeated )?(\w+) (\w+) = (\d+);$`)
	goPackage = regexp.MustCompile(`^option go_package = "(.*)";$`)
)

var scalars = map[string]descriptorpb.FieldDescriptorProto_Type{
	"int32":    descriptorpb.FieldDescriptorProto_TYPE_INT32,
	"int64":    descriptorpb.FieldDescriptorProto_TYPE_INT64,
	"uint64":   descriptorpb.FieldDescriptorProto_TYPE_UINT64,
	"sint64":   descriptorpb.FieldDescriptorProto_TYPE_SINT64,
	"fixed32":  descriptorpb.FieldDescriptorProto_TYPE_FIXED32,
	"fixed64":  descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
	"sfixed64": descriptorpb.FieldDescriptorProto_TYPE_SFIXED64,
	"bool":     descriptorpb.FieldDescriptorProto_TYPE_BOOL,
	"string":   descriptorpb.FieldDescriptorProto_TYPE_STRING,
	"bytes":    descriptorpb.FieldDescriptorProto_TYPE_BYTES,
}

// parse reads a .proto file of one statement a line.
func parse(source string) (*descriptorpb.FileDescriptorProto, error) {
	file := &descriptorpb.FileDescriptorProto{Options: &descriptorpb.FileOptions{}}
	var message *descriptorpb.DescriptorProto
	for i, line := range strings.Split(source, "\n") {
		line = strings.TrimSpace(comment.ReplaceAllString(line, ""))
		switch field := statement.FindStringSubmatch(line); {
		case line == "":
		case strings.HasPrefix(line, "syntax = "):
			file.Syntax = proto.String("proto3")
		case strings.HasPrefix(line, "package "):
			file.Package = proto.String(strings.TrimSuffix(strings.TrimPrefix(line, "package "), ";"))
		case goPackage.MatchString(line):
			file.Options.GoPackage = proto.String(goPackage.FindStringSubmatch(line)[1])
		case strings.HasPrefix(line, "message ") && strings.HasSuffix(line, " {"):
			name := strings.TrimSuffix(strings.TrimPrefix(line, "message "), " {")
			message = &descriptorpb.DescriptorProto{Name: proto.String(name)}
			file.MessageType = append(file.MessageType, message)
		case line == "}":
			message = nil
		case field != nil && message != nil:
			addField(file, message, field)
		default:
			return nil, fmt.Errorf("line %d is not understood: %s", i+1, line)
		}
	}
	return file, nil
}

func addField(file *descriptorpb.FileDescriptorProto, message *descriptorpb.DescriptorProto, parts []string) {
	number, _ := strconv.ParseInt(parts[4], 10, 32) // the pattern allows digits only
	f := &descriptorpb.FieldDescriptorProto{
		Name:   proto.String(parts[3]),
		Number: proto.Int32(int32(number)),
		Label:  descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
	}
	if kind, ok := scalars[parts[2]]; ok {
		f.Type = kind.Enum()
	} else {
		f.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		f.TypeName = proto.String("." + file.GetPackage() + "." + parts[2])
	}
	switch parts[1] {
	case "repeated ":
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	case "optional ":
		f.Proto3Optional = proto.Bool(true)
		f.OneofIndex = proto.Int32(int32(len(message.OneofDecl)))
		message.OneofDecl = append(message.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + parts[3])})
	}
	message.Field = append(message.Field, f)
}
