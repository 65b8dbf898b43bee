import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { CHROMIUM, pageHere } from '../helpers/review-page.ts'

const isHere = existsSync(CHROMIUM)
if (!isHere) console.log(`the page was not tried in a browser: ${CHROMIUM} is not there`)
const described = isHere ? describe : () => undefined

const text = (n: number, edits: Readonly<Record<number, string>> = {}) =>
  `${Array.from({ length: 30 }, (_, i) => edits[i + 1] ?? `line ${i + 1} of ${n}`).join('\n')}\n`
const names = Array.from({ length: 12 }, (_, n) => `src/f${String(n).padStart(2, '0')}.ts`)
const twelve = () => makeRepo({ files: Object.fromEntries(names.map((name, n) => [name, text(n)])) })

async function propose(repo: TestRepo, edits: readonly object[], revise?: string): Promise<string> {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({
    batch: batch(edits, { title: 'Use the shared clock' }),
    ...(revise === undefined ? {} : { revise }),
  })
  return change.id
}

const write = (path: string, content: string, mode?: string) => ({
  op: 'write',
  path,
  content,
  ...(mode === undefined ? {} : { mode }),
})

described('the review page', () => {
  let browser: Browser
  beforeAll(async () => {
    expect(inject('buildFailure')).toBeNull()
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    })
  })
  afterAll(() => browser?.close())

  /** A page with nothing kept from others, and what went wrong on it. */
  async function open(address: string) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, bypassCSP: false })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('dialog', (dialog) => faults.push(`dialog ${dialog.message()}`))
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on(
      'request',
      (asked) => new URL(asked.url()).hostname !== '127.0.0.1' && faults.push(`asked for ${asked.url()}`),
    )
    await page.goto(address)
    return { page, faults, [Symbol.asyncDispose]: () => context.close() }
  }
  const said = (page: Page, words: string) => page.getByRole('status').filter({ hasText: words }).waitFor()

  test('takes twelve files by the keyboard alone: two hunks rejected, one edited, one commented on', async () => {
    using repo = twelve()
    const id = await propose(
      repo,
      names.map((name, n) => write(name, text(n, { 15: `new ${n}` }))),
    )
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    const { keyboard } = page
    await page.getByRole('group', { name: '1 of 12: hunk 1, undecided', exact: true }).waitFor()
    for (let n = 0; n < 12; n++) {
      await page.locator(`#piece-${n}.current`).waitFor()
      if (n === 3 || n === 7) {
        await keyboard.press('n')
        await page.getByLabel('Why?').fill(`reason ${n}`)
        await keyboard.press('Control+Enter')
      } else if (n === 5) {
        await keyboard.press('e')
        const box = page.getByLabel('The lines as they are to be')
        await box.fill((await box.inputValue()).replace('new 5', 'edited 5'))
        await keyboard.press('Control+Enter')
      } else {
        if (n === 1) {
          await keyboard.press('c')
          await page.getByLabel('The agent gets it').fill('why this?')
          await keyboard.press('Control+Enter')
        }
        await keyboard.press('y')
      }
    }
    await said(page, '0 undecided')
    await keyboard.press('f')
    const finish = page.getByRole('dialog')
    await finish.getByText('9 accepted · 1 edited · 2 rejected · 0 undecided').waitFor()
    await finish.getByRole('button', { name: 'Make the revision, approve and land it' }).press('Enter')
    await said(page, `${id} landed`)
    for (const [n, name] of names.entries())
      expect([name, repo.read(name)]).toEqual([
        name,
        text(n, n === 3 || n === 7 ? {} : { 15: n === 5 ? 'edited 5' : `new ${n}` }),
      ])
    await using galley = await openGalley(repo)
    const words = JSON.stringify((await galley.show(id)).change.comments)
    for (const word of ['reason 3', 'reason 7', 'why this?']) expect(words).toContain(word)
    expect(shown.faults).toEqual([])
  })

  test('keeps what was decided and half typed, over a reload and over a new revision', async () => {
    using repo = twelve()
    const first = names.slice(0, 3).map((name, n) => write(name, text(n, { 15: `new ${n}` })))
    const id = await propose(repo, first)
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    await page.locator('#piece-0.current').waitFor()
    await page.keyboard.press('y')
    await page.locator('#piece-1.current').waitFor()
    await page.keyboard.press('n')
    const kept = page.waitForResponse(
      (response) =>
        response.url().endsWith('/act') && response.request().postData()?.includes('half a rea') === true,
    )
    await page.getByLabel('Why?').pressSequentially('half a rea')
    await kept
    await page.reload()
    await page.getByText('1 of 3 decided').waitFor()
    await page.keyboard.press('n')
    expect(await page.getByLabel('Why?').inputValue()).toBe('half a rea')
    await page.keyboard.press('Escape')
    await propose(repo, [...first.slice(0, 2), write(names[2] ?? '', text(2, { 15: 'another' }))], id)
    await page.getByRole('button', { name: 'Show it' }).click()
    await page.getByText('revision 2').first().waitFor()
    await page.getByText('1 of 3 decided').waitFor()
    await page.keyboard.press('n')
    expect(await page.getByLabel('Why?').inputValue()).toBe('half a rea')
    expect(shown.faults).toEqual([])
  })

  test('of an older revision cannot approve the newer one; its address opens no second browser', async () => {
    using repo = twelve()
    const id = await propose(repo, [write(names[0] ?? '', text(0, { 15: 'new' }))])
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    await page.locator('#piece-0.current').waitFor()
    await page.keyboard.press('y')
    await said(page, '0 undecided')
    await page.keyboard.press('f')
    await page.getByRole('dialog').waitFor()
    await propose(repo, [write(names[0] ?? '', text(0, { 15: 'other' }))], id)
    const before = repo.snapshot()
    await page.getByRole('button', { name: 'Approve and land' }).click()
    await page.getByRole('alert').filter({ hasText: 'digest-mismatch' }).waitFor()
    expect(repo.snapshot()).toEqual(before)
    await using second = await open(served.address)
    await second.page.getByRole('alert').filter({ hasText: 'denied' }).waitFor()
    expect(await second.page.getByText(names[0] ?? '').count()).toBe(0)
  })

  test('shows hostile names and contents, and does nothing that they say', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const evil = '<img src=x onerror=alert(1)>'
    await propose(repo, [
      write(
        `${evil}.html`,
        `<script>alert(1)</script>\n<a href="javascript:alert(1)">x</a>\n\u001b[2J\u202eevil\u200b\n&lt;b&gt;\n`,
        'create',
      ),
      write('a.txt', `${evil}\n`),
    ])
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    await page.locator('#piece-0').waitFor()
    const body = (await page.textContent('main')) ?? ''
    for (const words of [evil, '<script>alert(1)</script>', '\\u{1B}[2J\\u{202E}evil\\u{200B}', '&lt;b&gt;'])
      expect(body).toContain(words)
    expect(await page.locator('main img, main script, main a').count()).toBe(0)
    expect(shown.faults).toEqual([])
  })

  test.each(['light', 'dark'] as const)(
    'has no serious fault for people who cannot see it well, in the %s theme',
    async (colorScheme) => {
      using repo = twelve()
      await propose(
        repo,
        names.slice(0, 2).map((name, n) => write(name, text(n, { 15: `new ${n}` }))),
      )
      await using served = await pageHere(repo)
      await using shown = await open(served.address)
      const { page } = shown
      await page.emulateMedia({ colorScheme })
      await page.locator('#piece-0.current').waitFor()
      await page.keyboard.press('y')
      for (const state of ['page', 'dialog']) {
        if (state === 'dialog') await page.keyboard.press('f')
        await page.waitForTimeout(100)
        const found = await page.evaluate(`(() => { ${axe.source}; return axe.run(document) })()`)
        const { violations } = found as {
          violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
        }
        const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
        expect(serious.map(({ id, nodes }) => [state, id, nodes[0]?.html, nodes[0]?.failureSummary])).toEqual(
          [],
        )
      }
      await page.keyboard.press('Escape')
      expect(await page.locator('main').ariaSnapshot()).toContain('group "2 of 2: hunk 2, undecided"')
    },
  )

  test('needs no single key where somebody switched them off', async () => {
    using repo = twelve()
    await propose(repo, [write(names[0] ?? '', text(0, { 15: 'new' }))])
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    await page.locator('#piece-0.current').waitFor()
    await page.getByLabel('single-key shortcuts').uncheck()
    await page.keyboard.press('y')
    await page.getByText('0 of 1 decided').waitFor()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('1 of 1 decided').waitFor()
  })

  test('goes through 20,000 changed lines; a decision shows at once', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    const files = Array.from({ length: 20 }, (_, n) =>
      write(`f${n}.ts`, Array.from({ length: 1_000 }, (_, i) => `const x${i} = ${n}\n`).join(''), 'create'),
    )
    await propose(repo, files)
    await using served = await pageHere(repo)
    await using shown = await open(served.address)
    const { page } = shown
    await page.locator('#piece-0.current').waitFor()
    expect(await page.locator('.row').count()).toBeLessThan(200)
    for (let n = 0; n < 20; n++) {
      await page.locator(`#piece-${n}.current`).waitFor()
      await page.keyboard.press('y')
    }
    await said(page, '0 undecided')
    await page.keyboard.press('f')
    await page.getByText('Accepted without having been on the screen').waitFor()
    expect(shown.faults).toEqual([])
  })
})
