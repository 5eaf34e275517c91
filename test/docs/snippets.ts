/** Runs the receivers of docs/integrate/webhooks.md, each in its own language: reads cases as JSON and returns verdicts. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

export interface Case {
  readonly what: string;
  readonly scheme: 'service' | 'standard';
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string;
  readonly secrets: readonly string[];
  readonly now_ms: number;
  readonly genuine: boolean;
}

export interface Language {
  readonly name: string;
  /** Language of its code blocks. */
  readonly fence: string;
  /** Its interpreter, and the option that prints the version. */
  readonly interpreter: readonly [program: string, ...version: string[]];
  readonly snippetFile: string;
  readonly mainFile: string;
  readonly main: string;
  run(directory: string): readonly [program: string, ...args: string[]];
}

export const languages: readonly Language[] = [
  {
    name: 'Node',
    fence: 'js',
    interpreter: [process.execPath, '--version'],
    snippetFile: 'receiver.mjs',
    mainFile: 'main.mjs',
    main: `import { readFileSync } from 'node:fs';
import { isGenuine, isGenuineStandard } from './receiver.mjs';
const verdicts = JSON.parse(readFileSync('cases.json', 'utf8')).map(({ scheme, headers, body, secrets, now_ms }) =>
  (scheme === 'service' ? isGenuine : isGenuineStandard)(headers, Buffer.from(body, 'base64'), secrets, now_ms));
console.log(JSON.stringify(verdicts));`,
    run: () => [process.execPath, 'main.mjs'],
  },
  {
    name: 'Python',
    fence: 'python',
    interpreter: ['python3', '--version'],
    snippetFile: 'receiver.py',
    mainFile: 'main.py',
    main: `import base64, json
from receiver import is_genuine, is_genuine_standard
cases = json.load(open("cases.json"))
check = {"service": is_genuine, "standard": is_genuine_standard}
print(json.dumps([check[c["scheme"]](c["headers"], base64.b64decode(c["body"]), c["secrets"], c["now_ms"]) for c in cases]))`,
    run: () => ['python3', 'main.py'],
  },
  {
    name: 'Go',
    fence: 'go',
    interpreter: ['go', 'version'],
    snippetFile: 'receiver.go',
    mainFile: 'main.go',
    main: `package main

import (
	"encoding/json"
	"net/http"
	"os"
	"time"
)

func main() {
	text, _ := os.ReadFile("cases.json")
	var cases []struct {
		Scheme  string
		Headers map[string]string
		Body    []byte
		Secrets []string
		Now     int64 \`json:"now_ms"\`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, each := range cases {
		headers := http.Header{}
		for name, value := range each.Headers {
			headers.Set(name, value)
		}
		check := IsGenuine
		if each.Scheme == "standard" {
			check = IsGenuineStandard
		}
		verdicts = append(verdicts, check(headers, each.Body, each.Secrets, time.UnixMilli(each.Now)))
	}
	json.NewEncoder(os.Stdout).Encode(verdicts)
}`,
    run: () => ['go', 'run', 'receiver.go', 'main.go'],
  },
  {
    name: 'PHP',
    fence: 'php',
    interpreter: ['php', '--version'],
    snippetFile: 'receiver.php',
    mainFile: 'main.php',
    main: `<?php
require 'receiver.php';
$verdicts = [];
foreach (json_decode(file_get_contents('cases.json'), true) as $case) {
    $check = $case['scheme'] === 'service' ? 'isGenuine' : 'isGenuineStandard';
    $verdicts[] = $check($case['headers'], base64_decode($case['body']), $case['secrets'], $case['now_ms']);
}
echo json_encode($verdicts);`,
    run: () => ['php', 'main.php'],
  },
];

export function isInstalled({ interpreter: [program, ...version] }: Language): boolean {
  try {
    execFileSync(program, version, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** @param code the page's code block */
export function verdicts(language: Language, code: string, cases: readonly Case[]): readonly boolean[] {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, language.snippetFile), code);
  writeFileSync(join(directory, language.mainFile), language.main);
  writeFileSync(join(directory, 'cases.json'), JSON.stringify(cases));
  const [program, ...args] = language.run(directory);
  const env = { ...process.env, HOME: directory, GOFLAGS: '-mod=mod', GO111MODULE: 'off' };
  return JSON.parse(execFileSync(program, args, { cwd: directory, env, encoding: 'utf8' }));
}
