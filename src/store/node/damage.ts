/** What is found here is not what was written. Nothing is served, and nothing is built upon it. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
  readonly directory: string;
  constructor(directory: string, what: string) {
    super(
      `the event store's data in ${directory} is damaged: ${what}. Stop the service, keep a copy of the directory for ` +
        'whoever looks into it, and put the last backup in its place; before payouts go on, read "Backup" in docs/operations.md',
    );
    this.directory = directory;
  }
}
